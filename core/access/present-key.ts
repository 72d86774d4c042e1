import type { ApiKey } from '../records/key.ts';
import type { CreatedKey, ListedKeys, Revocation, Rotation } from './keys.ts';

/** Returns a key as lists show it: `key_id` is its SHA-256, `prefix` the start of its text. */
export function presentKey(key: ApiKey) {
  const { hash, prefix, caller, scopes, label, created_by, created_at, last_used_at, revoked_at } = key;
  return { key_id: hash, prefix, caller, scopes, label, created_by, created_at, last_used_at, revoked_at };
}

/** Returns a page of keys. `next_after` is the start of the next page, `null` on the last. */
export function presentKeys({ keys, next }: ListedKeys) {
  return { keys: keys.map(presentKey), next_after: next === null ? null : `${next.created_at}.${next.hash}` };
}

/** Returns a revoked key, with its revoked descendants if requested. */
export function presentRevocation({ key, descendants }: Revocation) {
  return { ...presentKey(key), ...(descendants && { descendants: descendants.map(presentKey) }) };
}

/** Returns the successor with its text, and the key that it replaces. */
export function presentRotation({ old, descendants, ...created }: Rotation) {
  return { ...presentNewKey(created), replaces: presentRevocation({ key: old, descendants }) };
}

/** Returns a new key with its text in `key`. No later response contains it, because only its hash is stored. */
export function presentNewKey({ text, key }: CreatedKey) {
  return { key: text, ...presentKey(key) };
}
