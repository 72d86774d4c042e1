import type { DatabaseSync } from 'node:sqlite';
import { isDeliveredByWebhook } from '../../core/records/delivery.ts';
import { jobEventSchema, type EventType, type JobEvent } from '../../core/records/event.ts';
import { readOptionalRecord, readRecords } from './record.ts';

/** Creates the table of events, ordered by sequence within a job. An insert throws if the sequence is taken. */
export function createEventTable(database: DatabaseSync) {
  const insert = database.prepare(
    'INSERT INTO events VALUES (:job_id, :sequence, :type, :to_webhook, :record)',
  );
  const find = database.prepare('SELECT record FROM events WHERE job_id = ? AND sequence = ?');
  const after = database.prepare(
    'SELECT record FROM events WHERE job_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
  );
  const newest = database.prepare(
    'SELECT record FROM events WHERE job_id = ? AND type = ? ORDER BY sequence DESC LIMIT ?',
  );
  const remove = database.prepare('DELETE FROM events WHERE job_id = ?');

  return {
    insert: (event: JobEvent) => void insert.run(toRow(event)),
    find: (jobId: string, sequence: number) => readOptionalRecord(jobEventSchema, find.get(jobId, sequence)),
    after: (jobId: string, sequence: number, limit: number) =>
      readRecords(jobEventSchema, after.all(jobId, sequence, limit)),
    newest: (jobId: string, type: EventType, limit: number) =>
      readRecords(jobEventSchema, newest.all(jobId, type, limit)).toReversed(),
    removeAll: (jobId: string) => void remove.run(jobId),
  };
}

function toRow(event: JobEvent) {
  return {
    job_id: event.job_id,
    sequence: event.sequence,
    type: event.type,
    to_webhook: isDeliveredByWebhook(event.type) ? 1 : 0,
    record: JSON.stringify(event),
  };
}
