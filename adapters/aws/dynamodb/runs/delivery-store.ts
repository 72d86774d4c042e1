import {
  deliverySchema,
  type DestinationKey,
  destinationStateSchema,
} from '../../../../core/records/delivery.ts';
import type { DeliveryStore } from '../../../../core/ports/delivery.ts';
import { rules } from '../../../../core/rules.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { itemKeys, runPartition, sortPrefixes } from '../table/keys.ts';
import { readRecord, readRecords } from '../table/record.ts';
import { retryWithJitter } from '../table/retries.ts';
import type { Table } from '../table/table.ts';

/**
 * Creates the store of deliveries and destination states, in the partition of their run. Its methods throw
 * `TransientError`, and `StorageError` for an unreadable record.
 */
export function createDeliveryStore(table: Table, backoff: BackoffDeps, now: () => Date): DeliveryStore {
  return {
    get: async (key) => {
      const item = await table.get(itemKeys.delivery(key));
      return item && readRecord(deliverySchema, item);
    },
    put: async (delivery, time) => {
      const item = { ...itemKeys.delivery(delivery), record: JSON.stringify(delivery), ttl: expiry(time) };
      await table.write({ kind: 'put', item });
    },
    list: async (run, after, limit) => {
      const items = await table.query({
        where: '#pk = :run AND #sk BETWEEN :from AND :to',
        values: {
          ':run': runPartition(run.run_id),
          ':from': itemKeys.delivery({ ...run, sequence: after + 1, destination_id: '' }).sk,
          ':to': `${sortPrefixes.delivery}~`,
        },
        limit,
      });
      return readRecords(deliverySchema, items);
    },
    state: async (destination) => {
      const item = await table.get(itemKeys.destinationState(destination));
      return item && readRecord(destinationStateSchema, item);
    },
    states: async (run) => {
      const where = '#pk = :run AND begins_with(#sk, :destination)';
      const values = { ':run': runPartition(run.run_id), ':destination': sortPrefixes.destination };
      return readRecords(destinationStateSchema, await table.query({ where, values }));
    },
    changeState: (destination, change) =>
      retryWithJitter(async () => {
        const key = itemKeys.destinationState(destination);
        const item = await table.get(key);
        const state = change(item && readRecord(destinationStateSchema, item));
        const written = await table.write({
          kind: 'put',
          item: { ...key, record: JSON.stringify(state), ...stateExpiry(destination, now()) },
          condition: item ? '#record = :seen' : 'attribute_not_exists(#pk)',
          ...(item && { values: { ':seen': item['record'] } }),
        });
        return written.kind === 'written' ? state : undefined;
      }, backoff),
  };
}

/** Returns the expiry of a destination's state. The purge of a watch removes its states; a job has no purge. */
function stateExpiry({ run }: DestinationKey, time: Date): { ttl?: number } {
  return run === 'job' ? { ttl: expiry(time) } : {};
}

function expiry(time: Date): number {
  return Math.ceil(time.getTime() / 1000) + rules.deliverySeconds;
}
