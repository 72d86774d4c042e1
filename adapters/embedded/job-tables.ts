import type { DatabaseSync } from 'node:sqlite';
import { createEventTable } from './event-table.ts';
import { createIdempotencyTable } from './idempotency-table.ts';
import { createJobTable } from './job-table.ts';
import { createKeyCheck } from './key-check.ts';
import { createSlotTable } from './slot-table.ts';
import { createSourceTable } from './source-table.ts';
import { createTotalsTable } from './totals-table.ts';

export type JobTables = ReturnType<typeof createJobTables>;

/** Creates the tables that one transaction of the job store can change. */
export function createJobTables(database: DatabaseSync) {
  return {
    jobs: createJobTable(database),
    sources: createSourceTable(database),
    slots: createSlotTable(database),
    events: createEventTable(database),
    idempotency: createIdempotencyTable(database),
    totals: createTotalsTable(database),
    hasKey: createKeyCheck(database),
  };
}
