import { z } from 'zod';

/** Permissions of a key: `jobs` includes `read`, `admin` includes `keys`. */
export const scopeSchema = z.enum(['read', 'jobs', 'keys', 'internal', 'admin']);
export type Scope = z.infer<typeof scopeSchema>;

/** Version of the meaning of scopes: in version 1, which no record states, `jobs` included `read` and `keys`. */
export const scopesVersion = 2;

const timestampSchema = z.iso.datetime();

const currentKeySchema = z.object({
  /** SHA-256 of the key, in hexadecimal. Also the key's id. */
  hash: z.string().length(64),
  /** First 11 characters of the key, to tell keys apart in lists. */
  prefix: z.string(),
  caller: z.string(),
  scopes: z.array(scopeSchema),
  scopes_version: z.literal(scopesVersion),
  label: z.string().nullable(),
  /** Hash of the key that created it; `null` if the operator created it, or an earlier release. */
  created_by: z.string().nullable().default(null),
  created_at: timestampSchema,
  last_used_at: timestampSchema.nullable(),
  /** Time from which the key is rejected. In the future during the grace period of a rotated key. */
  revoked_at: timestampSchema.nullable(),
});

/** Stored API key: its hash and metadata, never its text. A key of an earlier release gets the scopes that it had in effect. */
export const apiKeySchema = z.preprocess(upgradeScopes, currentKeySchema);
export type ApiKey = z.infer<typeof apiKeySchema>;

const earlierKeySchema = z.looseObject({
  scopes: z.array(z.enum(['jobs', 'internal', 'admin'])),
  scopes_version: z.undefined().optional(),
});

/** Adds the scopes that version 1 implied: `read` with `jobs`, and `keys` always, since every key managed keys. */
function upgradeScopes(stored: unknown): unknown {
  const { data: earlier } = earlierKeySchema.safeParse(stored);
  if (earlier === undefined) return stored;
  const scopes = scopeSchema.options.filter((scope) => scope === 'keys' || hasScope(earlier.scopes, scope));
  return { ...earlier, scopes, scopes_version: scopesVersion };
}

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
