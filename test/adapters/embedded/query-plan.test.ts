import type { DatabaseSync } from 'node:sqlite';
import { expect, it, vi } from 'vitest';
import { createCallerStore } from '../../../adapters/embedded/caller-store.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createDeliveryMessageTable } from '../../../adapters/embedded/delivery-message-table.ts';
import { createDeliveryStore } from '../../../adapters/embedded/delivery-store.ts';
import { createJobStore } from '../../../adapters/embedded/job-store.ts';
import { createKeyStore } from '../../../adapters/embedded/key-store.ts';
import { start } from '../../contract/records.ts';

/** What reads a whole table on purpose: a row a counter, the whole queue at start. */
const wholeTables = ['SELECT counter, value FROM totals', 'SELECT DISTINCT job_id FROM delivery_queue'];

it('no statement of the stores reads a table from end to end', async () => {
  const database = openDatabase(':memory:');
  const prepared = vi.spyOn(database, 'prepare');
  createDeliveryStore(database);
  createKeyStore(database);
  createCallerStore(database);
  createDeliveryMessageTable(database);
  await createJobStore(database).sweep(start);
  const statements = prepared.mock.calls.map(([sql]) => sql);
  prepared.mockRestore();

  const scanning = statements.filter((sql) => !wholeTables.includes(sql) && scans(database, sql));

  expect(statements.length).toBeGreaterThan(30);
  expect(scanning).toEqual([]);
});

/** An index that holds only the few rows in question may be read whole. */
function scans(database: DatabaseSync, sql: string): boolean {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.some(({ detail }) => /^SCAN (?!jobs USING INDEX jobs_to_publish)/.test(String(detail)));
}
