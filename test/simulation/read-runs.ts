import type { DatabaseSync } from 'node:sqlite';
import type { Run } from '../../core/records/run.ts';

const statements = new WeakMap<DatabaseSync, ReturnType<typeof prepareAll>>();

function prepareAll(database: DatabaseSync) {
  return {
    version: database.prepare('SELECT version FROM runs WHERE run_id = ?'),
    stored: database.prepare('SELECT meta, run FROM runs WHERE run_id = ?'),
    events: database.prepare('SELECT record FROM events WHERE run_id = ? AND sequence > ? ORDER BY sequence'),
    openAlerts: database.prepare("SELECT alert_id FROM alerts WHERE watch_id = ? AND closed_at = 'open'"),
  };
}

export function findStatements(database: DatabaseSync): ReturnType<typeof prepareAll> {
  const known = statements.get(database) ?? prepareAll(database);
  statements.set(database, known);
  return known;
}

export function readStored(database: DatabaseSync, runId: string): Run {
  const row = findStatements(database).stored.get(runId);
  return {
    ...JSON.parse(String(row?.['meta'])),
    ...JSON.parse(String(row?.['run'])),
  };
}

export function readEvents<Event>(database: DatabaseSync, runId: string, after: number): Event[] {
  return findStatements(database)
    .events.all(runId, after)
    .map((row) => JSON.parse(String(row['record'])));
}

export function range(after: number, to: number): number[] {
  return Array.from({ length: to - after }, (_, index) => after + 1 + index);
}
