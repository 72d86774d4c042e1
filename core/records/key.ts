import { z } from 'zod';

export const scopeSchema = z.enum(['jobs', 'internal', 'admin']);
export type Scope = z.infer<typeof scopeSchema>;

const timestampSchema = z.iso.datetime();

/** What is stored of an API key: never the key itself. */
export const apiKeySchema = z.object({
  /** SHA-256 of the key, hex. */
  hash: z.string().length(64),
  /** The first characters of the key, to tell keys apart in lists. */
  prefix: z.string(),
  caller: z.string(),
  scopes: z.array(scopeSchema),
  label: z.string().nullable(),
  /** The hash of the key that made it; null for the machine's own, and for keys of before this was kept. */
  created_by: z.string().nullable().default(null),
  created_at: timestampSchema,
  last_used_at: timestampSchema.nullable(),
  /** From then on it is refused; to come while a rotated key is still good. */
  revoked_at: timestampSchema.nullable(),
});
export type ApiKey = z.infer<typeof apiKeySchema>;

export function isRevoked({ revoked_at: revokedAt }: ApiKey, now: Date): boolean {
  return revokedAt !== null && new Date(revokedAt) <= now;
}
