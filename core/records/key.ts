import { z } from 'zod';
import { apiNames } from '../api-names.ts';

/** Permissions of a key: `jobs` includes `read`, `admin` includes `keys`. */
export const scopeSchema = z.enum(['read', 'jobs', 'keys', 'internal', 'admin']);
apiNames.add(scopeSchema, { id: 'Scope' });
export type Scope = z.infer<typeof scopeSchema>;

const timestampSchema = z.iso.datetime();

/** Stored API key: its hash and metadata, never its text. */
export const apiKeySchema = z.object({
  /** SHA-256 of the key, in hexadecimal. Also the key's id. */
  hash: z.string().length(64),
  /** First 11 characters of the key, to tell keys apart in lists. */
  prefix: z.string(),
  caller: z.string(),
  scopes: z.array(scopeSchema),
  label: z.string().nullable(),
  /** Hash of the key that created it; `null` if the operator created it. */
  created_by: z.string().nullable(),
  created_at: timestampSchema,
  last_used_at: timestampSchema.nullable(),
  /** Time from which the key is rejected. In the future during the grace period of a rotated key. */
  revoked_at: timestampSchema.nullable(),
});

export type ApiKey = z.infer<typeof apiKeySchema>;

/** Returns true if the scopes include `needed`, directly or by another scope. */
export function hasScope(scopes: readonly Scope[], needed: Scope): boolean {
  const including = includedIn[needed];
  return scopes.includes(needed) || (including !== undefined && scopes.includes(including));
}

const includedIn: { [Included in Scope]?: Scope } = { read: 'jobs', keys: 'admin' };

/** Returns true if the key is no longer valid. */
export function isRevoked({ revoked_at: revokedAt }: ApiKey, now: Date): boolean {
  return revokedAt !== null && new Date(revokedAt) <= now;
}
