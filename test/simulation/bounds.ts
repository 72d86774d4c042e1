import type { DatabaseSync } from 'node:sqlite';

const day = 86_400_000;
/** The maintenance removes what has expired each minute. */
const late = 120_000;

/**
 * Requires that nothing grows with the age of the watches: everything that has expired is gone. Returns the number of
 * rows.
 */
export function requireBounds(database: DatabaseSync, now: number, retentionDays: number): number {
  const kept = (ms: number) => new Date(now - ms - late).toISOString();
  const isProgress = "record ->> 'type' = 'progress'";
  const none: Record<string, [table: string, condition: string, before: string | number]> = {
    'old progress': [
      'events',
      `${isProgress} AND feed IS NOT NULL AND record ->> 'timestamp' < ?`,
      kept(day),
    ],
    'old events': ['events', "feed IS NOT NULL AND record ->> 'timestamp' < ?", kept(retentionDays * day)],
    'old alerts': ['alerts', "record ->> '$.closed.at' < ?", kept(retentionDays * day)],
    'old deliveries': ['deliveries', 'expires_at < ?', now - late],
    'old motion references': ['motion_references', 'stored_at < ?', now - day - late],
    'known messages': ['delivery_deduplication', 'until < ?', now - 2 * day],
    'waiting messages': ['delivery_messages', 'visible_at < ?', now + day],
  };
  for (const [what, [table, condition, before]] of Object.entries(none)) {
    const row = database.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${condition}`).get(before);
    if (row?.['count'] !== 0) throw new Error(`${String(row?.['count'])} ${what} are left in ${table}`);
  }
  return [...tablesOfWatches, 'motion_references'].reduce(
    (sum, table) => sum + countRows(database, table),
    0,
  );
}

const tablesOfWatches = [
  'runs',
  'events',
  'alerts',
  'watch_hours',
  'destination_states',
  'watch_secrets',
  'destination_states',
];

/** Requires that nothing of a deleted watch is left. */
export function requireEmpty(database: DatabaseSync): void {
  for (const table of tablesOfWatches) {
    const count = countRows(database, table);
    if (count > 0) throw new Error(`${table} has ${count} rows after the deletion`);
  }
}

function countRows(database: DatabaseSync, table: string): number {
  return Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']);
}
