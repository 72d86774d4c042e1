import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { IdempotencyRecord } from '../../../core/ports/job-store.ts';

/** Creates the table that maps a caller's idempotency key to the request and its job. */
export function createIdempotencyTable(database: DatabaseSync) {
  const find = database.prepare(
    'SELECT request_hash, job_id FROM idempotency WHERE caller = ? AND key = ? AND expires_at > ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)');
  const removeExpired = database.prepare('DELETE FROM idempotency WHERE expires_at <= ?');
  return {
    find: (caller: string, key: string, now: Date) =>
      rowSchema.optional().parse(find.get(caller, key, now.getTime())),
    /** Replaces an expired record. */
    put: (caller: string, record: IdempotencyRecord, jobId: string) =>
      void put.run(caller, record.key, record.requestHash, jobId, record.expiresAt.getTime()),
    removeExpired: (now: Date) => Number(removeExpired.run(now.getTime()).changes),
  };
}

const rowSchema = z
  .object({ request_hash: z.string(), job_id: z.string() })
  .transform(({ request_hash: requestHash, job_id: jobId }) => ({ requestHash, jobId }));
