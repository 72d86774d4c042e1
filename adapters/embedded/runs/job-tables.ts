import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type IdempotencyRecord, noTotals, totalsSchema, type Totals } from '../../../core/ports/runs.ts';
import { sourceSchema, type Source } from '../../../core/records/job.ts';
import { createRecordReader, readCount } from '../sqlite/record.ts';
import { createRemovalInSteps } from '../sqlite/remove-in-steps.ts';

/** Creates the table of slots: a set of job ids per caller, so that taking or freeing a slot twice changes nothing. */
export function createSlotTable(database: DatabaseSync) {
  const take = database.prepare('INSERT OR IGNORE INTO slots VALUES (?, ?)');
  const free = database.prepare('DELETE FROM slots WHERE caller = ? AND job_id = ?');
  const count = database.prepare('SELECT count(*) AS count FROM slots WHERE caller = ?');
  return {
    take: (caller: string, jobId: string) => void take.run(caller, jobId),
    free: (caller: string, jobId: string) => void free.run(caller, jobId),
    count: (caller: string) => readCount(count.get(caller)),
  };
}

/** Creates the table that maps a caller's idempotency key to the request and its job. */
export function createIdempotencyTable(database: DatabaseSync) {
  const find = database.prepare(
    'SELECT request_hash, job_id FROM idempotency WHERE caller = ? AND key = ? AND expires_at > ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)');
  const removeExpired = createRemovalInSteps(database, {
    table: 'idempotency',
    key: 'caller, key',
    where: 'expires_at <= ?',
  });
  return {
    find: (caller: string, key: string, now: Date) =>
      idempotencySchema.optional().parse(find.get(caller, key, now.getTime())),
    /** Replaces an expired record. */
    put: (caller: string, record: IdempotencyRecord, jobId: string) =>
      void put.run(caller, record.key, record.requestHash, jobId, record.expiresAt.getTime()),
    removeExpired: async (now: Date) => removeExpired(now.getTime()),
  };
}

const idempotencySchema = z
  .object({ request_hash: z.string(), job_id: z.string() })
  .transform(({ request_hash: requestHash, job_id: runId }) => ({ requestHash, runId }));

/** Creates the table of totals, one row per counter, so that a new counter needs no migration. */
export function createTotalsTable(database: DatabaseSync) {
  const add = database.prepare(
    'INSERT INTO totals VALUES (?, ?) ON CONFLICT (counter) DO UPDATE SET value = value + excluded.value',
  );
  const all = database.prepare('SELECT counter, value FROM totals');
  return {
    add: (totals: Totals) => {
      for (const [counter, value] of Object.entries(totals)) add.run(counter, value);
    },
    read: (): Totals => {
      const stored = totalRowsSchema.parse(all.all()).map(({ counter, value }) => [counter, value]);
      return totalsSchema.parse({ ...noTotals, ...Object.fromEntries(stored) });
    },
  };
}

const totalRowsSchema = z.array(z.object({ counter: z.string(), value: z.int() }));

/** Sources change with an edit only, and are below a kB. */
const maxParsed = 1000;

export function createSourceTable(database: DatabaseSync) {
  const put = database.prepare('INSERT OR REPLACE INTO sources VALUES (?, ?)');
  const find = database.prepare('SELECT record FROM sources WHERE source_id = ?');
  const remove = database.prepare('DELETE FROM sources WHERE source_id = ?');
  const read = createRecordReader(sourceSchema, maxParsed);
  return {
    put: (source: Source) => void put.run(source.source_id, JSON.stringify(source)),
    find: (sourceId: string) => read(sourceId, find.get(sourceId)),
    remove: (sourceId: string) => void remove.run(sourceId),
  };
}
