import type { ApiKey } from '../key.ts';
import type { CreatedKey } from './keys.ts';

/** A key as lists show it: `key_id` is its SHA-256, `prefix` how its text begins. */
export function presentKey(key: ApiKey) {
  const { hash, prefix, caller, scopes, label, created_at, last_used_at, revoked_at } = key;
  return { key_id: hash, prefix, caller, scopes, label, created_at, last_used_at, revoked_at };
}

/** With `key`, the text itself: only now, since only its hash is stored. */
export function presentNewKey({ text, key }: CreatedKey) {
  return { key: text, ...presentKey(key) };
}
