import { embeddedRuns } from '../../../support/select-runs.ts';
import type { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { createCallerEraser, createCallerStore } from '../../../../adapters/embedded/callers/caller-store.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createDeliveryMessageTable } from '../../../../adapters/embedded/queue/delivery-queue.ts';
import { createDeliveryStore } from '../../../../adapters/embedded/queue/delivery-store.ts';
import { createKeyStore } from '../../../../adapters/embedded/callers/key-store.ts';
import { start } from '../../../contract/records.ts';

/**
 * Statements that scan a table on purpose: totals (one row per counter), the queue at start, and each minute the
 * watches, whose moments are searched.
 */
const wholeTables = [
  /^SELECT counter, value FROM totals$/,
  /^SELECT DISTINCT message_group FROM delivery_messages$/,
  /^\s+SELECT moment, frame_key FROM runs INDEXED BY runs_of_watches CROSS JOIN moments ON watch_id = run_id\s/,
];

test('no other statement of the stores scans a table', async () => {
  const database = openDatabase(':memory:');
  const prepared = vi.spyOn(database, 'prepare');
  createDeliveryStore(database);
  createKeyStore(database);
  createCallerStore(database);
  createCallerEraser(database);
  createDeliveryMessageTable(database);
  await embeddedRuns(database).jobs.sweep(start);
  const statements = prepared.mock.calls.map(([sql]) => sql);
  prepared.mockRestore();

  const scanning = statements.filter(
    (sql) => !wholeTables.some((whole) => whole.test(sql)) && scans(database, sql),
  );

  expect(statements.length).toBeGreaterThan(30);
  expect(scanning).toEqual([]);
});

/**
 * Scans of a partial index are allowed: it holds only the few relevant rows. So are those of a list in one record, and
 * the full-text table is never scanned.
 */
function scans(database: DatabaseSync, sql: string): boolean {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.some(({ detail }) =>
    /^SCAN (?!json_each|moment_words VIRTUAL|runs USING (COVERING )?INDEX runs_to_publish)/.test(
      String(detail),
    ),
  );
}
