import type { DatabaseSync } from 'node:sqlite';

export type KeyCheck = (hash: string, caller: string, now: Date) => boolean;

/** Creates a check inside a transaction: true if the key is stored for the caller and not revoked. An erased caller has no key. */
export function createKeyCheck(database: DatabaseSync): KeyCheck {
  const find = database.prepare('SELECT 1 FROM api_keys WHERE hash = ? AND caller = ? AND ends_at > ?');
  return (hash, caller, now) => find.get(hash, caller, now.toISOString()) !== undefined;
}
