import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '../../core/records/delivery.ts';
import { TransientError } from '../../core/errors.ts';
import type { DeliveryStore } from '../../core/ports/delivery.ts';
import { withLostReplies } from './lost-replies.ts';

/** Contract of `DeliveryStore`. `makeStore` returns an empty store. */
export function describeDeliveryStore(name: string, makeStore: () => Promise<DeliveryStore>): void {
  describe(`${name} as a delivery store`, () => {
    test('a delivery is returned as it was stored', async () => {
      const store = await makeStore();
      const delivery = newDelivery({
        attempts: [
          {
            at: '2026-03-01T12:00:00.000Z',
            status: null,
            latency_ms: 30_000,
            error: 'No response in time',
            resend: 0,
          },
          { at: '2026-03-01T12:00:35.000Z', status: 503, latency_ms: 12, error: null, resend: 1 },
        ],
        resend: 1,
      });

      await store.put(delivery);

      expect(await store.get(delivery.job_id, delivery.sequence)).toEqual(delivery);
    });

    test('a later put replaces an earlier one', async () => {
      const store = await makeStore();
      const delivery = newDelivery();
      await store.put(delivery);

      await store.put({ ...delivery, state: 'delivered', next_attempt_at: null });

      expect(await store.get(delivery.job_id, 1)).toMatchObject({ state: 'delivered' });
      expect(await store.list(delivery.job_id)).toHaveLength(1);
    });

    test('the newest delivery is found by sequence, not by time', async () => {
      const store = await makeStore();
      const third = newDelivery({ sequence: 3 });
      await store.put(third);
      await store.put({ ...third, sequence: 7 });
      await store.put({ ...third, sequence: 1 });

      expect((await store.newest(third.job_id))?.sequence).toBe(7);
      expect(await store.newest(randomUUID())).toBeUndefined();
    });

    test('a put whose reply was lost can be repeated', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const delivery = newDelivery();

      await expect(losing.put(delivery)).rejects.toThrow(TransientError);
      await losing.put(delivery);

      expect(await store.list(delivery.job_id)).toEqual([delivery]);
    });

    test('the deliveries of a job are listed by sequence, without those of other jobs', async () => {
      const store = await makeStore();
      const { job_id } = newDelivery();
      for (const sequence of [10, 2, 1, 11]) await store.put(newDelivery({ job_id, sequence }));
      await store.put(newDelivery());

      const sequences = (await store.list(job_id)).map((delivery) => delivery.sequence);

      expect(sequences).toEqual([1, 2, 10, 11]);
    });

    test('an unknown delivery is undefined', async () => {
      const store = await makeStore();
      const { job_id } = newDelivery();

      expect(await store.get(job_id, 1)).toBeUndefined();
      expect(await store.list(job_id)).toEqual([]);
    });
  });
}

function newDelivery(overrides: Partial<Delivery> = {}): Delivery {
  return {
    job_id: randomUUID(),
    sequence: 1,
    event_type: 'watch_triggered',
    state: 'pending',
    attempts: [],
    next_attempt_at: '2026-03-01T12:00:05.000Z',
    gone: false,
    error: null,
    resend: 0,
    ...overrides,
  };
}
