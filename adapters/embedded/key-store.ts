import type { DatabaseSync } from 'node:sqlite';
import { apiKeySchema, type ApiKey } from '../../core/key.ts';
import type { KeyStore } from '../../core/ports/key-store.ts';
import { readOptionalRecord, readRecords, toMilliseconds } from './record.ts';
import { reading, transaction } from './transaction.ts';

/** Throws `TransientError`, and `StorageError` for a record that cannot be read. */
export function createKeyStore(database: DatabaseSync): KeyStore {
  // A repeated put must not undo a revocation that came between.
  const put = database.prepare('INSERT OR IGNORE INTO api_keys VALUES (?, ?, ?, ?)');
  const find = database.prepare('SELECT record FROM api_keys WHERE hash = ?');
  const update = database.prepare('UPDATE api_keys SET record = ? WHERE hash = ?');
  const all = database.prepare('SELECT record FROM api_keys ORDER BY created_at, hash');
  const ofCaller = database.prepare('SELECT record FROM api_keys WHERE caller = ? ORDER BY created_at, hash');

  function change(hash: string, changed: (key: ApiKey) => ApiKey): void {
    transaction(database, () => {
      const key = readOptionalRecord(apiKeySchema, find.get(hash));
      if (key !== undefined) update.run(JSON.stringify(changed(key)), hash);
    });
  }

  return {
    put: async (key) => {
      reading(() => put.run(key.hash, key.caller, toMilliseconds(key.created_at), JSON.stringify(key)));
    },
    find: async (hash) => reading(() => readOptionalRecord(apiKeySchema, find.get(hash))),
    list: async (caller) =>
      reading(() => readRecords(apiKeySchema, caller === undefined ? all.all() : ofCaller.all(caller))),
    revoke: async (hash, at) => change(hash, (key) => revoked(key, at)),
    relabel: async (hash, label) => change(hash, (key) => ({ ...key, label })),
    touch: async (hash, at) => change(hash, (key) => touched(key, at)),
  };
}

function revoked(key: ApiKey, at: Date): ApiKey {
  const isEarlier = key.revoked_at === null || at < new Date(key.revoked_at);
  return isEarlier ? { ...key, revoked_at: at.toISOString() } : key;
}

function touched(key: ApiKey, at: Date): ApiKey {
  const isNewer = key.last_used_at === null || Date.parse(key.last_used_at) < at.getTime();
  return isNewer ? { ...key, last_used_at: at.toISOString() } : key;
}
