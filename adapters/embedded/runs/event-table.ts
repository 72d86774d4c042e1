import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { jobEventSchema, type EventType, type JobEvent } from '../../../core/records/event.ts';
import { watchEventSchema } from '../../../core/records/watch-event.ts';
import { isJobEvent, type RunEvent } from '../../../core/records/run.ts';
import { createRemovalInSteps } from '../sqlite/remove-in-steps.ts';
import { readOptionalRecord, readRecords, type Row } from '../sqlite/record.ts';

/**
 * Creates the table of events, ordered by sequence within a run and by position within the feed of a caller: there is
 * one writer.
 */
export function createEventTable(database: DatabaseSync) {
  const insert = database.prepare(
    'INSERT INTO events VALUES (NULL, :run_id, :sequence, :type, :feed, :expires_at, :record)',
  );
  const find = database.prepare('SELECT record FROM events WHERE run_id = ? AND sequence = ?');
  const kept = '(expires_at IS NULL OR expires_at > :now)';
  const after = database.prepare(`
    SELECT record FROM events WHERE run_id = :run_id AND sequence > :after AND ${kept} ORDER BY sequence LIMIT :limit`);
  const newest = database.prepare(
    'SELECT record FROM events WHERE run_id = ? AND type = ? ORDER BY sequence DESC LIMIT ?',
  );
  const feed = database.prepare(`
    SELECT position, record FROM events WHERE feed = :feed AND position > :after AND ${kept} ORDER BY position LIMIT :limit`);
  const newestOfFeed = database.prepare('SELECT max(position) AS position FROM events WHERE feed = ?');
  const inSteps = (where: string) =>
    createRemovalInSteps(database, { table: 'events', key: 'position', where });
  const removeExpired = inSteps('expires_at <= ?');
  return {
    /** Throws if the sequence is taken. `caller` is that of a watch, whose feed has the event. */
    insert: (event: RunEvent, caller: string | null, expiresAt: Date | null) =>
      void insert.run({
        run_id: isJobEvent(event) ? event.job_id : event.watch_id,
        sequence: event.sequence,
        type: event.type,
        feed: caller,
        expires_at: expiresAt && expiresAt.getTime(),
        record: JSON.stringify(event),
      }),
    find: (runId: string, sequence: number) => readOptionalRecord(eventSchema, find.get(runId, sequence)),
    after: (runId: string, sequence: number, limit: number, now: Date) =>
      readRecords(eventSchema, after.all({ run_id: runId, after: sequence, limit, now: now.getTime() })),
    newest: (jobId: string, type: EventType, limit: number): JobEvent[] =>
      readRecords(jobEventSchema, newest.all(jobId, type, limit)).toReversed(),
    ofFeed: (caller: string, position: number, limit: number, now: Date) => {
      const rows = feed.all({ feed: caller, after: position, limit, now: now.getTime() });
      const events = readRecords(watchEventSchema, rows);
      return events.map((event, index) => ({ event, position: readPosition(rows[index]) }));
    },
    newestOfFeed: (caller: string) => readPosition(newestOfFeed.get(caller)),
    removeExpired: async (now: Date) => removeExpired(now.getTime()),
    /** Removes the events of a run, which may be gigabytes. */
    removeOfRun: inSteps('run_id = ?'),
  };
}

const eventSchema = z.union([jobEventSchema, watchEventSchema]);

function readPosition(row: Row | undefined): number {
  return z.object({ position: z.int().nullable() }).parse(row).position ?? 0;
}
