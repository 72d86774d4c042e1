import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { CallerEraser } from '../../../core/ports/callers.ts';
import { createKeyRemoval } from './key-store.ts';
import { createEventTable } from '../runs/event-table.ts';
import { createMomentTable } from '../runs/moment-table.ts';
import { createRunRemoval } from '../runs/run-tables.ts';
import { transaction, withStorageErrors } from '../sqlite/transaction.ts';
import { markDeleted } from '../sqlite/vacuum.ts';

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
