import type { DatabaseSync } from 'node:sqlite';
import type { WatchDeliveryStore } from '../../core/ports/watch-deliveries.ts';
import { destinationStateSchema, watchDeliverySchema } from '../../core/records/watch-delivery.ts';
import { rules } from '../../core/rules.ts';
import { readOptionalRecord, readRecords } from './record.ts';
import { transaction, withStorageErrors } from './transaction.ts';

export type EmbeddedWatchDeliveryStore = WatchDeliveryStore & {
  /** Removes deliveries whose retention has ended. Returns their number. */
  sweep(now: Date): number;
};

/** Creates the store of the deliveries of watches. Throws `TransientError`, and `StorageError` for an unreadable record. */
export function createWatchDeliveryStore(database: DatabaseSync): EmbeddedWatchDeliveryStore {
  const find = database.prepare(
    'SELECT record FROM watch_deliveries WHERE watch_id = ? AND sequence = ? AND destination_id = ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO watch_deliveries VALUES (?, ?, ?, ?, ?)');
  const findState = database.prepare(
    'SELECT record FROM destination_states WHERE watch_id = ? AND destination_id = ?',
  );
  const list = database.prepare(
    'SELECT record FROM destination_states WHERE watch_id = ? ORDER BY destination_id',
  );
  const putState = database.prepare('INSERT OR REPLACE INTO destination_states VALUES (?, ?, ?)');
  const removeExpired = database.prepare('DELETE FROM watch_deliveries WHERE expires_at <= ?');
  const readState = (watchId: string, destinationId: string) =>
    readOptionalRecord(destinationStateSchema, findState.get(watchId, destinationId));
  return {
    get: async (watchId, sequence, destinationId) =>
      withStorageErrors(() =>
        readOptionalRecord(watchDeliverySchema, find.get(watchId, sequence, destinationId)),
      ),
    put: async (delivery, now) => {
      const { watch_id, sequence, destination_id } = delivery;
      const expiresAt = now.getTime() + rules.watchDeliverySeconds * 1000;
      withStorageErrors(() =>
        put.run(watch_id, sequence, destination_id, expiresAt, JSON.stringify(delivery)),
      );
    },
    state: async (watchId, destinationId) => withStorageErrors(() => readState(watchId, destinationId)),
    states: async (watchId) =>
      withStorageErrors(() => readRecords(destinationStateSchema, list.all(watchId))),
    changeState: async (watchId, destinationId, change) =>
      transaction(database, () => {
        const state = change(readState(watchId, destinationId));
        putState.run(watchId, destinationId, JSON.stringify(state));
        return state;
      }),
    sweep: (now) => withStorageErrors(() => Number(removeExpired.run(now.getTime()).changes)),
  };
}
