import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { deduplicationId, deliveryMessageSchema, type DeliveryMessage } from '../../core/records/delivery.ts';
import type { Row } from './record.ts';
import { withStorageErrors, transaction } from './transaction.ts';

export type DeliveryMessageTable = ReturnType<typeof createDeliveryMessageTable>;

/** Queued message. `visibleAt` is in epoch milliseconds; `failures` counts handler calls that threw. */
export type QueuedMessage = {
  position: number;
  visibleAt: number;
  failures: number;
  message: DeliveryMessage;
};

/** Creates the table of queued messages, ordered by job and send time; the first message of a job is its head. */
export function createDeliveryMessageTable(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO delivery_queue (job_id, sequence, resend, visible_at, failures)
    VALUES (:job_id, :sequence, :resend, :visible_at, 0)`);
  const forget = database.prepare(
    'DELETE FROM delivery_deduplication WHERE until <= :now OR until > :now + :longest',
  );
  const remember = database.prepare('INSERT OR IGNORE INTO delivery_deduplication VALUES (?, ?)');
  const head = database.prepare('SELECT * FROM delivery_queue WHERE job_id = ? ORDER BY position LIMIT 1');
  const heads = database.prepare('SELECT DISTINCT job_id FROM delivery_queue');
  const remove = database.prepare('DELETE FROM delivery_queue WHERE position = ?');
  const postpone = database.prepare(
    'UPDATE delivery_queue SET visible_at = ?, failures = ? WHERE position = ?',
  );

  return {
    /** Adds a message. Returns false if the same message was added within the last five minutes. */
    add: (message: DeliveryMessage, now: Date): boolean =>
      transaction(database, () => {
        // Removes expired entries, and entries more than five minutes ahead, which an earlier clock wrote.
        forget.run({ now: now.getTime(), longest: deduplicationMs });
        const isNew = remember.run(deduplicationId(message), now.getTime() + deduplicationMs).changes === 1;
        if (isNew) insert.run({ ...message, visible_at: now.getTime() });
        return isNew;
      }),
    head: (jobId: string): QueuedMessage | undefined => withStorageErrors(() => readMessage(head.get(jobId))),
    jobIds: (): string[] => withStorageErrors(() => jobIdsSchema.parse(heads.all()).map((row) => row.job_id)),
    remove: (position: number): void => void withStorageErrors(() => remove.run(position)),
    postpone: (position: number, visibleAt: number, failures: number): void =>
      void withStorageErrors(() => postpone.run(visibleAt, failures, position)),
  };
}

/** Deduplication interval of SQS FIFO, counted from the first message. */
const deduplicationMs = 300_000;

function readMessage(row: Row | undefined): QueuedMessage | undefined {
  if (row === undefined) return undefined;
  const { position, visible_at: visibleAt, failures } = rowSchema.parse(row);
  return { position, visibleAt, failures, message: deliveryMessageSchema.parse(row) };
}

const rowSchema = z.object({ position: z.int(), visible_at: z.int(), failures: z.int().nonnegative() });
const jobIdsSchema = z.array(z.object({ job_id: z.string() }));
