import type { ApiKey } from '../records/key.ts';
import type { CreatedKey, ListedKeys, Revocation, Rotation } from './keys.ts';

/** A key as lists show it: `key_id` is its SHA-256, `prefix` how its text begins. */
export function presentKey(key: ApiKey) {
  const { hash, prefix, caller, scopes, label, created_by, created_at, last_used_at, revoked_at } = key;
  return { key_id: hash, prefix, caller, scopes, label, created_by, created_at, last_used_at, revoked_at };
}

/** A page of a list; `next_after` is where the next one begins, null on the last. */
export function presentKeys({ keys, next }: ListedKeys) {
  return { keys: keys.map(presentKey), next_after: next === null ? null : `${next.created_at}.${next.hash}` };
}

/** What was revoked, with what ended with it where that was asked for. */
export function presentRevocation({ key, descendants }: Revocation) {
  return { ...presentKey(key), ...(descendants && { descendants: descendants.map(presentKey) }) };
}

/** The successor, and what it replaces. */
export function presentRotation({ old, descendants, ...created }: Rotation) {
  return { ...presentNewKey(created), replaces: presentRevocation({ key: old, descendants }) };
}

/** With `key`, the text itself: only now, since only its hash is stored. */
export function presentNewKey({ text, key }: CreatedKey) {
  return { key: text, ...presentKey(key) };
}
