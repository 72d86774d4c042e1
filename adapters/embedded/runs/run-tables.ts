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
import { createRunTable } from './run-table.ts';
import { createAlertTable, createHourTable, createReviewTable, createSecretsTable } from './watch-tables.ts';

const ofRun = 'FROM runs WHERE run_id = :run';

/** Statements that remove a run with everything that belongs to it; the run is last, because others read it. */
const statements = [
  'DELETE FROM events WHERE run_id = :run',
  'DELETE FROM deliveries WHERE run_id = :run',
  'DELETE FROM destination_states WHERE run_id = :run',
  "DELETE FROM delivery_messages WHERE message_group BETWEEN :run || ':' AND :run || ':~'",
  "DELETE FROM delivery_deduplication WHERE deduplication_id BETWEEN :run || ':' AND :run || ':~'",
  'DELETE FROM motion_references WHERE run_id = :run',
  'DELETE FROM alerts WHERE watch_id = :run',
  'DELETE FROM moment_words WHERE rowid IN (SELECT moment FROM moments WHERE watch_id = :run)',
  'DELETE FROM moments WHERE watch_id = :run',
  'DELETE FROM watch_hours WHERE watch_id = :run',
  'DELETE FROM watch_reviews WHERE watch_id = :run',
  'DELETE FROM watch_secrets WHERE watch_id = :run',
  `DELETE FROM slots WHERE caller = (SELECT caller ${ofRun}) AND job_id = :run`,
  `DELETE FROM sources WHERE source_id = (SELECT meta ->> '$.source_id' ${ofRun})`,
  `DELETE ${ofRun}`,
];

/** Creates a function that removes a run inside the transaction of the caller. */
export function createRunRemoval(database: DatabaseSync): (runId: string) => void {
  const prepared = statements.map((statement) => database.prepare(statement));
  return (runId) => prepared.forEach((statement) => statement.run({ run: runId }));
}

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
