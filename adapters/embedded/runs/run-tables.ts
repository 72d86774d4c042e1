import type { DatabaseSync } from 'node:sqlite';
import { createEventTable } from './event-table.ts';
import { createKeyCheck } from '../callers/key-store.ts';
import {
  createIdempotencyTable,
  createSlotTable,
  createSourceTable,
  createTotalsTable,
} from './job-tables.ts';
import { createMomentTable } from './moment-table.ts';
import { createRunRemoval } from './run-removal.ts';
import { createRunTable } from './run-table.ts';
import { createAlertTable, createHourTable, createReviewTable, createSecretsTable } from './watch-tables.ts';

export type RunTables = ReturnType<typeof createRunTables>;

/** Creates the tables that one transaction can change with a run. */
export function createRunTables(database: DatabaseSync) {
  return {
    runs: createRunTable(database),
    events: createEventTable(database),
    sources: createSourceTable(database),
    slots: createSlotTable(database),
    totals: createTotalsTable(database),
    secrets: createSecretsTable(database),
    alerts: createAlertTable(database),
    hours: createHourTable(database),
    moments: createMomentTable(database),
    reviews: createReviewTable(database),
    idempotency: createIdempotencyTable(database),
    hasKey: createKeyCheck(database),
    /** Removes a run with everything that belongs to it. */
    removeRun: createRunRemoval(database),
  };
}
