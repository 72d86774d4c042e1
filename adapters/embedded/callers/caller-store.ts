import type { DatabaseSync } from 'node:sqlite';
import { callerSchema } from '../../../core/records/caller.ts';
import type { CallerStore, CallerEraser } from '../../../core/ports/callers.ts';
import { readOptionalRecord, readRecords } from '../sqlite/record.ts';
import { withStorageErrors, transaction } from '../sqlite/transaction.ts';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { createKeyRemoval } from './key-store.ts';
import { createEventTable, createRunRemoval } from '../runs/run-tables.ts';
import { createMomentTable } from '../runs/moment-table.ts';
import { markDeleted } from '../sqlite/vacuum.ts';

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

const momentsAtOnce = 250;
const ofCaller = ['alerts', 'caller_use', 'callers', 'idempotency', 'slots', 'api_keys'];

const selectWork = (kind: string, condition: string) => `
  SELECT run_id AS id, '${kind}' AS kind, run ->> 'generation' AS generation, meta ->> 'source_id' AS sourceId
  FROM runs WHERE caller = :caller AND ${condition}`;

/** Creates the eraser of callers. Throws `TransientError` for disk faults. */
export function createCallerEraser(database: DatabaseSync): CallerEraser {
  const removeRun = createRunRemoval(database);
  const moments = createMomentTable(database);
  // Apart, since the indexes of jobs and of watches are partial.
  const list = database.prepare(
    `${selectWork('job', "policy <> 'watch'")} UNION ALL ${selectWork('watch', "policy = 'watch'")} LIMIT :limit`,
  );
  const { removeOfRun: removeEvents } = createEventTable(database);
  const removeKey = createKeyRemoval(database);
  return {
    removeKeys: async (caller) =>
      transaction(database, () => {
        const keys = keysSchema.parse(
          database.prepare('SELECT hash FROM api_keys WHERE caller = ?').all(caller),
        );
        for (const { hash } of keys) removeKey(hash);
        return keys.length;
      }),
    listWork: async (caller, limit) => withStorageErrors(() => workSchema.parse(list.all({ caller, limit }))),
    removeWork: async (_, { id }) => {
      await removeEvents(id);
      while (transaction(database, () => moments.remove(id, null, momentsAtOnce)).more) await setImmediate();
      transaction(database, () => removeRun(id));
    },
    removeCaller: async (caller) =>
      transaction(database, () => {
        for (const table of ofCaller) database.prepare(`DELETE FROM ${table} WHERE caller = ?`).run(caller);
        markDeleted(database);
      }),
  };
}

const keysSchema = z.array(z.object({ hash: z.string() }));
const workSchema = z.array(
  z.object({ id: z.string(), kind: z.enum(['job', 'watch']), generation: z.int(), sourceId: z.string() }),
);
