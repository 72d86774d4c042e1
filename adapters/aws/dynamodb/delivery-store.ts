import { deliverySchema } from '../../../core/records/delivery.ts';
import type { DeliveryStore } from '../../../core/ports/delivery.ts';
import type { ItemTtls } from './item-ttls.ts';
import { jobPartition, itemKeys, sortPrefixes } from './keys.ts';
import { readRecord, readRecords } from './record.ts';
import type { Table } from './table.ts';

/**
 * Creates the delivery store. Deliveries expire some time after their job. Its methods throw `TransientError`, and
 * `StorageError` for an unreadable record.
 */
export function createDeliveryStore(table: Table, ttls: ItemTtls, now: () => Date): DeliveryStore {
  return {
    get: async (jobId, sequence) => {
      const item = await table.get(itemKeys.delivery(jobId, sequence));
      return item && readRecord(deliverySchema, item);
    },
    put: async (delivery) => {
      const key = itemKeys.delivery(delivery.job_id, delivery.sequence);
      const item = { ...key, record: JSON.stringify(delivery), ttl: ttls.forJob(now()) };
      await table.write({ kind: 'put', item });
    },
    newest: async (jobId) => {
      const where = '#pk = :job AND begins_with(#sk, :delivery)';
      const values = { ':job': jobPartition(jobId), ':delivery': sortPrefixes.delivery };
      const [item] = await table.query({ where, values, newestFirst: true, limit: 1 });
      return item && readRecord(deliverySchema, item);
    },
    list: async (jobId) => {
      const where = '#pk = :job AND begins_with(#sk, :delivery)';
      const values = { ':job': jobPartition(jobId), ':delivery': sortPrefixes.delivery };
      return readRecords(deliverySchema, await table.query({ where, values }));
    },
  };
}
