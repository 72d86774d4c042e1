import type { DatabaseSync } from 'node:sqlite';
import { deliverySchema } from '../../core/records/delivery.ts';
import type { DeliveryStore } from '../../core/ports/delivery.ts';
import { readOptionalRecord, readRecords } from './record.ts';
import { withStorageErrors } from './transaction.ts';

/**
 * Creates the store of deliveries; `sweepJobs` removes them with their job. Throws `TransientError`, and `StorageError` for an
 * unreadable record.
 */
export function createDeliveryStore(database: DatabaseSync): DeliveryStore {
  const find = database.prepare('SELECT record FROM deliveries WHERE job_id = ? AND sequence = ?');
  const put = database.prepare('INSERT OR REPLACE INTO deliveries VALUES (?, ?, ?)');
  const newest = database.prepare(
    'SELECT record FROM deliveries WHERE job_id = ? ORDER BY sequence DESC LIMIT 1',
  );
  const list = database.prepare('SELECT record FROM deliveries WHERE job_id = ? ORDER BY sequence');
  return {
    get: async (jobId, sequence) =>
      withStorageErrors(() => readOptionalRecord(deliverySchema, find.get(jobId, sequence))),
    put: async (delivery) => {
      withStorageErrors(() => put.run(delivery.job_id, delivery.sequence, JSON.stringify(delivery)));
    },
    newest: async (jobId) => withStorageErrors(() => readOptionalRecord(deliverySchema, newest.get(jobId))),
    list: async (jobId) => withStorageErrors(() => readRecords(deliverySchema, list.all(jobId))),
  };
}
