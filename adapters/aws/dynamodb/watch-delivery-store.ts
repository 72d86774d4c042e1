import { destinationStateSchema, watchDeliverySchema } from '../../../core/records/watch-delivery.ts';
import type { WatchDeliveryStore } from '../../../core/ports/watch-deliveries.ts';
import { rules } from '../../../core/rules.ts';
import { itemKeys, sortPrefixes, watchPartition } from './keys.ts';
import type { BackoffDeps } from '../../retry-with-backoff.ts';
import { readRecord, readRecords } from './record.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import type { Table } from './table.ts';

/**
 * Creates the store of the deliveries of watches, in the partition of the watch: its purge removes them. The methods throw `TransientError`, and
 * `StorageError` for an unreadable record.
 */
export function createWatchDeliveryStore(table: Table, backoff: BackoffDeps): WatchDeliveryStore {
  return {
    get: async (watchId, sequence, destinationId) => {
      const item = await table.get(itemKeys.watchDelivery(watchId, sequence, destinationId));
      return item && readRecord(watchDeliverySchema, item);
    },
    put: async (delivery, now) => {
      const { watch_id, sequence, destination_id } = delivery;
      const key = itemKeys.watchDelivery(watch_id, sequence, destination_id);
      const ttl = Math.ceil(now.getTime() / 1000) + rules.watchDeliverySeconds;
      await table.write({ kind: 'put', item: { ...key, record: JSON.stringify(delivery), ttl } });
    },
    state: async (watchId, destinationId) => {
      const item = await table.get(itemKeys.destinationState(watchId, destinationId));
      return item && readRecord(destinationStateSchema, item);
    },
    states: async (watchId) => {
      const where = '#pk = :watch AND begins_with(#sk, :destination)';
      const values = { ':watch': watchPartition(watchId), ':destination': sortPrefixes.destination };
      return readRecords(destinationStateSchema, await table.query({ where, values }));
    },
    changeState: (watchId, destinationId, change) =>
      retryWithJitter(async () => {
        const key = itemKeys.destinationState(watchId, destinationId);
        const item = await table.get(key);
        const state = change(item && readRecord(destinationStateSchema, item));
        const written = await table.write({
          kind: 'put',
          item: { ...key, record: JSON.stringify(state) },
          condition: item ? '#record = :seen' : 'attribute_not_exists(#pk)',
          ...(item && { values: { ':seen': item['record'] } }),
        });
        return written.kind === 'written' ? state : undefined;
      }, backoff),
  };
}
