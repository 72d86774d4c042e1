import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { CallerEraser, CallerWork } from '../../core/ports/caller-eraser.ts';
import { createKeyRemoval } from './key-store.ts';
import { transaction, withStorageErrors } from './transaction.ts';

const ofDeliveries = [
  "DELETE FROM delivery_messages WHERE message_group BETWEEN $id || ':' AND $id || ':~'",
  'DELETE FROM deliveries WHERE run_id = $id',
  'DELETE FROM destination_states WHERE run_id = $id',
];

/** Statements that remove a job and what belongs to it; `$id` is its id. */
const ofJob = [
  ...ofDeliveries,
  'DELETE FROM events WHERE job_id = $id',
  'DELETE FROM slots WHERE job_id = $id',
  'DELETE FROM idempotency WHERE job_id = $id',
  'DELETE FROM motion_references WHERE run_id = $id',
  'DELETE FROM jobs WHERE job_id = $id',
];

const ofWatch = [
  ...ofDeliveries,
  'DELETE FROM watch_events WHERE watch_id = $id',
  'DELETE FROM watch_hours WHERE watch_id = $id',
  'DELETE FROM watch_reviews WHERE watch_id = $id',
  'DELETE FROM watch_secrets WHERE watch_id = $id',
  'DELETE FROM alerts WHERE watch_id = $id',
  'DELETE FROM idempotency WHERE job_id = $id',
  'DELETE FROM motion_references WHERE run_id = $id',
  'DELETE FROM watches WHERE watch_id = $id',
];

const ofCaller = ['alerts', 'caller_use', 'callers', 'idempotency', 'slots', 'api_keys'];

function listWork(
  database: DatabaseSync,
  { caller, limit }: { caller: string; limit: number },
  kind: CallerWork['kind'],
  columns: string,
  table: string,
): CallerWork[] {
  const statement = database.prepare(`SELECT ${columns} FROM ${table} WHERE caller = ? LIMIT ?`);
  return rowsSchema.parse(statement.all(caller, limit)).map((row) => ({ kind, ...row }));
}

/** Creates the eraser of callers. Throws `TransientError` for disk faults. */
export function createCallerEraser(database: DatabaseSync): CallerEraser {
  const run = (statements: readonly string[], { id, sourceId }: CallerWork) => {
    for (const statement of statements) database.prepare(statement).run({ id });
    database.prepare('DELETE FROM sources WHERE source_id = ?').run(sourceId);
  };
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
    listWork: async (caller, limit) =>
      withStorageErrors(() => {
        return [
          ...listWork(
            database,
            { caller, limit },
            'job',
            "job_id AS id, record ->> 'generation' AS generation, record ->> 'source_id' AS sourceId",
            'jobs',
          ),
          ...listWork(
            database,
            { caller, limit },
            'watch',
            "watch_id AS id, run ->> 'generation' AS generation, record ->> 'source_id' AS sourceId",
            'watches',
          ),
        ];
      }),
    removeWork: async (_, work) =>
      transaction(database, () => run(work.kind === 'job' ? ofJob : ofWatch, work)),
    removeCaller: async (caller) => {
      transaction(database, () => {
        for (const table of ofCaller) database.prepare(`DELETE FROM ${table} WHERE caller = ?`).run(caller);
      });
      withStorageErrors(() => {
        // Free pages and the write-ahead log contain what was removed until they are overwritten.
        database.exec('VACUUM');
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      });
    },
  };
}

const keysSchema = z.array(z.object({ hash: z.string() }));
const rowsSchema = z.array(z.object({ id: z.string(), generation: z.int(), sourceId: z.string() }));
