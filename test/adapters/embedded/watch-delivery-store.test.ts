import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createWatchDeliveryStore } from '../../../adapters/embedded/watch-delivery-store.ts';
import { initialWatchDelivery } from '../../../core/records/watch-delivery.ts';
import { after, start } from '../../contract/records.ts';
import { describeWatchDeliveryStore } from '../../contract/watch-delivery-store.contract.ts';

const createStore = () => createWatchDeliveryStore(openDatabase(':memory:'));

describeWatchDeliveryStore('The embedded store', async () => createStore());

test('a sweep removes deliveries a week after their last attempt', async () => {
  const store = createStore();
  const watchId = randomUUID();
  const delivery = (sequence: number) =>
    initialWatchDelivery({ watch_id: watchId, sequence, destination_id: 'team' }, 'alert_opened');
  await store.put(delivery(1), start);
  await store.put(delivery(2), after(86_400));

  expect(store.sweep(after(7 * 86_400))).toBe(1);
  expect(await store.get(watchId, 1, 'team')).toBeUndefined();
  expect(await store.get(watchId, 2, 'team')).toEqual(delivery(2));
});
