import type { DatabaseSync } from 'node:sqlite';
import { callerSchema } from '../../../core/records/caller.ts';
import type { CallerStore } from '../../../core/ports/callers.ts';
import { readOptionalRecord, readRecords } from '../sqlite/record.ts';
import { withStorageErrors, transaction } from '../sqlite/transaction.ts';

/** Creates the store of callers. Throws `TransientError`, and `StorageError` for an unreadable record. */
export function createCallerStore(database: DatabaseSync): CallerStore {
  const add = database.prepare('INSERT OR IGNORE INTO callers VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM callers WHERE caller = ?');
  const list = database.prepare('SELECT record FROM callers WHERE caller > ? ORDER BY caller LIMIT ?');
  const update = database.prepare('UPDATE callers SET record = ? WHERE caller = ?');

  const read = (caller: string) => readOptionalRecord(callerSchema, find.get(caller));
  return {
    add: async (caller) => {
      withStorageErrors(() => add.run(caller.caller, JSON.stringify(caller)));
    },
    find: async (caller) => withStorageErrors(() => read(caller)),
    list: async (after, limit) => withStorageErrors(() => readRecords(callerSchema, list.all(after, limit))),
    replaceSecret: async (caller, expectedVersion, secret) =>
      transaction(database, () => {
        const stored = read(caller);
        if (stored?.webhook_secret.version !== expectedVersion) return 'outdated';
        update.run(JSON.stringify({ ...stored, webhook_secret: secret }), caller);
        return 'replaced';
      }),
    setWebhookEvents: async (caller, events) =>
      transaction(database, () => {
        const stored = read(caller);
        if (stored) update.run(JSON.stringify({ ...stored, webhook_events: events }), caller);
      }),
  };
}
