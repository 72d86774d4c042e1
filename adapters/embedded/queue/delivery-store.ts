import type { DatabaseSync } from 'node:sqlite';
import { deliverySchema, destinationStateSchema } from '../../../core/records/delivery.ts';
import type { DestinationKey } from '../../../core/records/delivery.ts';
import type { DeliveryStore } from '../../../core/ports/delivery.ts';
import { rules } from '../../../core/rules.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import { createRemovalInSteps } from '../sqlite/vacuum.ts';
import { readOptionalRecord, readRecords } from '../sqlite/record.ts';
import { withStorageErrors } from '../sqlite/transaction.ts';

export type EmbeddedDeliveryStore = DeliveryStore & {
  /** Removes deliveries whose retention has ended. Returns their number. */
  sweep(now: Date): Promise<number>;
};

/**
 * Creates the store of deliveries and destination states. Throws `TransientError`, and `StorageError` for an unreadable
 * record.
 */
export function createDeliveryStore(database: DatabaseSync): EmbeddedDeliveryStore {
  const commitInGroup = groupCommits(database);
  const find = database.prepare(
    'SELECT record FROM deliveries WHERE run_id = ? AND sequence = ? AND destination_id = ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO deliveries VALUES (?, ?, ?, ?, ?)');
  const list = database.prepare(
    'SELECT record FROM deliveries WHERE run_id = ? AND sequence > ? ORDER BY sequence, destination_id LIMIT ?',
  );
  const findState = database.prepare(
    'SELECT record FROM destination_states WHERE run_id = ? AND destination_id = ?',
  );
  const listStates = database.prepare(
    'SELECT record FROM destination_states WHERE run_id = ? ORDER BY destination_id',
  );
  const putState = database.prepare('INSERT OR REPLACE INTO destination_states VALUES (?, ?, ?)');
  const removeExpired = createRemovalInSteps(database, {
    table: 'deliveries',
    key: 'run_id, sequence, destination_id',
    where: 'expires_at <= ?',
  });
  const readState = ({ run_id, destination_id }: DestinationKey) =>
    readOptionalRecord(destinationStateSchema, findState.get(run_id, destination_id));
  return {
    get: async ({ run_id, sequence, destination_id }) =>
      withStorageErrors(() => readOptionalRecord(deliverySchema, find.get(run_id, sequence, destination_id))),
    put: async (delivery, now) => {
      const { run_id, sequence, destination_id } = delivery;
      const expiresAt = now.getTime() + rules.deliverySeconds * 1000;
      await commitInGroup(() =>
        put.run(run_id, sequence, destination_id, expiresAt, JSON.stringify(delivery)),
      );
    },
    list: async ({ run_id }, after, limit) =>
      withStorageErrors(() => readRecords(deliverySchema, list.all(run_id, after, limit))),
    state: async (destination) => withStorageErrors(() => readState(destination)),
    states: async ({ run_id }) =>
      withStorageErrors(() => readRecords(destinationStateSchema, listStates.all(run_id))),
    changeState: async (destination, change) =>
      commitInGroup(() => {
        const state = change(readState(destination));
        putState.run(destination.run_id, destination.destination_id, JSON.stringify(state));
        return state;
      }),
    sweep: async (now) => removeExpired(now.getTime()),
  };
}
