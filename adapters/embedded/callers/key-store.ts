import type { DatabaseSync } from 'node:sqlite';
import { apiKeySchema, isRevoked, type ApiKey } from '../../../core/records/key.ts';
import type { KeyStore } from '../../../core/ports/callers.ts';
import { readCount, readOptionalRecord, readRecords, toMilliseconds } from '../sqlite/record.ts';
import { transaction, withStorageErrors } from '../sqlite/transaction.ts';

export type EmbeddedKeyStore = KeyStore & {
  /** Removes at most 500 keys that were revoked before `revokedBefore`; returns how many. */
  sweep(revokedBefore: Date): Promise<number>;
};

/** Maximum keys per transaction: milliseconds, during which no other write runs. */
const maxSweptAtOnce = 500;

/** Creates the store of API keys. Throws `TransientError`, and `StorageError` for an unreadable record. */
export function createKeyStore(database: DatabaseSync): EmbeddedKeyStore {
  // A repeated put must not undo a revocation in between.
  const put = database.prepare(
    'INSERT OR IGNORE INTO api_keys (hash, caller, created_at, record) VALUES (?, ?, ?, ?)',
  );
  const find = database.prepare('SELECT record FROM api_keys WHERE hash = ?');
  const update = database.prepare('UPDATE api_keys SET record = ? WHERE hash = ?');
  const removeFromChain = createKeyRemoval(database);
  const countGood = database.prepare(
    'SELECT count(*) AS count FROM api_keys WHERE caller = ? AND ends_at > ?',
  );
  const listAll = database.prepare(
    'SELECT record FROM api_keys WHERE (created_at, hash) > (?, ?) ORDER BY created_at, hash LIMIT ?',
  );
  const listOfCaller = database.prepare(
    'SELECT record FROM api_keys WHERE caller = ? AND (created_at, hash) > (?, ?) ORDER BY created_at, hash LIMIT ?',
  );
  const newest = database.prepare(
    'SELECT record FROM api_keys WHERE caller = ? ORDER BY created_at DESC, hash DESC LIMIT 1 OFFSET ?',
  );
  const madeBy = database.prepare('SELECT record FROM api_keys WHERE created_by = ?');
  const revokedBy = database.prepare(
    'SELECT record FROM api_keys WHERE ends_at < ? ORDER BY ends_at LIMIT ?',
  );

  const read = (hash: string) => readOptionalRecord(apiKeySchema, find.get(hash));

  function write(key: ApiKey): void {
    put.run(key.hash, key.caller, toMilliseconds(key.created_at), JSON.stringify(key));
  }

  function change(hash: string, changed: (key: ApiKey) => ApiKey): void {
    transaction(database, () => {
      const key = read(hash);
      if (key !== undefined) update.run(JSON.stringify(changed(key)), hash);
    });
  }

  return {
    put: async (key) => withStorageErrors(() => write(key)),
    create: async (key, maxGood) =>
      transaction(database, () => {
        if (read(key.hash) !== undefined) return 'created';
        const maker = key.created_by === null ? undefined : read(key.created_by);
        if (key.created_by !== null && maker?.revoked_at !== null) return 'maker_revoked';
        if (readCount(countGood.get(key.caller, key.created_at)) >= maxGood) return 'full';
        write(key);
        return 'created';
      }),
    find: async (hash) => withStorageErrors(() => read(hash)),
    list: async ({ caller, after, limit }) =>
      withStorageErrors(() => {
        const behind = after === undefined ? [-1, ''] : [toMilliseconds(after.created_at), after.hash];
        const rows =
          caller === undefined ? listAll.all(...behind, limit) : listOfCaller.all(caller, ...behind, limit);
        return readRecords(apiKeySchema, rows);
      }),
    listMadeBy: async (hash) => withStorageErrors(() => readRecords(apiKeySchema, madeBy.all(hash))),
    creationTime: async (caller, position) =>
      withStorageErrors(() => {
        const key = readOptionalRecord(apiKeySchema, newest.get(caller, position));
        return key && new Date(key.created_at);
      }),
    revoke: async (hash, time) => change(hash, (key) => revoked(key, time)),
    relabel: async (hash, label) => change(hash, (key) => ({ ...key, label })),
    touch: async (hash, time) => change(hash, (key) => touched(key, time)),
    claim: async (hash, time) =>
      transaction(database, () => {
        const key = read(hash);
        if (!key || key.last_used_at !== null || isRevoked(key, time)) return false;
        update.run(JSON.stringify(touched(key, time)), hash);
        return true;
      }),
    sweep: async (revokedBefore) =>
      transaction(database, () => {
        const over = readRecords(apiKeySchema, revokedBy.all(revokedBefore.toISOString(), maxSweptAtOnce));
        for (const { hash } of over) removeFromChain(hash);
        return over.length;
      }),
  };
}

/** Creates the removal of a key. Those that it created get its creator, so that the chain of keys stays complete. */
export function createKeyRemoval(database: DatabaseSync): (hash: string) => void {
  const relink = database.prepare(
    "UPDATE api_keys SET record = json_set(record, '$.created_by', (SELECT created_by FROM api_keys WHERE hash = $hash)) WHERE created_by = $hash",
  );
  const remove = database.prepare('DELETE FROM api_keys WHERE hash = ?');
  return (hash) => {
    relink.run({ hash });
    remove.run(hash);
  };
}

function revoked(key: ApiKey, time: Date): ApiKey {
  const isEarlier = key.revoked_at === null || time < new Date(key.revoked_at);
  return isEarlier ? { ...key, revoked_at: time.toISOString() } : key;
}

function touched(key: ApiKey, time: Date): ApiKey {
  const isNewer = key.last_used_at === null || Date.parse(key.last_used_at) < time.getTime();
  return isNewer ? { ...key, last_used_at: time.toISOString() } : key;
}

export type KeyCheck = (hash: string, caller: string, now: Date) => boolean;

/**
 * Creates a check inside a transaction: true if the key is stored for the caller and not revoked. An erased caller has
 * no key.
 */
export function createKeyCheck(database: DatabaseSync): KeyCheck {
  const find = database.prepare('SELECT 1 FROM api_keys WHERE hash = ? AND caller = ? AND ends_at > ?');
  return (hash, caller, now) => find.get(hash, caller, now.toISOString()) !== undefined;
}
