import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createDeliveryStore } from '../../../../adapters/embedded/queue/delivery-store.ts';
import { initialDelivery } from '../../../../core/records/delivery.ts';
import { describeDeliveryStore } from '../../../contract/delivery-store.contract.ts';
import { after, start, webhookKey } from '../../../contract/records.ts';

const createStore = () => createDeliveryStore(openDatabase(':memory:'));

describeDeliveryStore('The embedded store', async () => createStore());

test('a sweep removes deliveries a week after their last attempt', async () => {
  const store = createStore();
  const id = randomUUID();
  const delivery = (sequence: number) => initialDelivery(webhookKey(id, sequence), 'alert_opened');
  await store.put(delivery(1), start);
  await store.put(delivery(2), after(86_400));

  expect(await store.sweep(after(7 * 86_400))).toBe(1);
  expect(await store.get(webhookKey(id, 1))).toBeUndefined();
  expect(await store.get(webhookKey(id, 2))).toEqual(delivery(2));
});
