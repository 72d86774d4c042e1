import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import type { WatchDeliveryStore } from '../../core/ports/watch-deliveries.ts';
import { initialDestinationState } from '../../core/delivery/destination-state.ts';
import { initialWatchDelivery, type DestinationState } from '../../core/records/watch-delivery.ts';
import { withLostReplies } from './lost-replies.ts';
import { start } from './records.ts';

/** Contract of `WatchDeliveryStore`. `makeStore` returns an empty store. */
export function describeWatchDeliveryStore(name: string, makeStore: () => Promise<WatchDeliveryStore>): void {
  describe(`${name} as a store of watch deliveries`, () => {
    test('a delivery is found by watch, sequence and destination, as it was stored last', async () => {
      const store = await makeStore();
      const delivery = initialWatchDelivery(
        { watch_id: randomUUID(), sequence: 7, destination_id: 'team' },
        'alert_opened',
      );
      await store.put(delivery, start);
      const failed = { ...delivery, state: 'failed' as const, gone: true, error: 'Failed to deliver: 404' };
      await store.put(failed, start);

      expect(await store.get(delivery.watch_id, 7, 'team')).toEqual(failed);
      expect(await store.get(delivery.watch_id, 7, 'mail')).toBeUndefined();
      expect(await store.get(delivery.watch_id, 70, 'team')).toBeUndefined();
      expect(await store.get(randomUUID(), 7, 'team')).toBeUndefined();
    });

    test('states are listed by destination, without those of other watches and without deliveries', async () => {
      const store = await makeStore();
      const watchId = randomUUID();
      const states = ['a', 'mail', 'team'].map((id) => ({
        ...initialDestinationState(watchId, { destination_id: id, fingerprint: 'f1' }),
        disabled: { at: start.toISOString(), reason: 'the receiver answered 404' },
      }));
      for (const state of states.toReversed()) await putState(store, state);
      await putState(
        store,
        initialDestinationState(randomUUID(), { destination_id: 'team', fingerprint: 'f1' }),
      );
      await store.put(
        initialWatchDelivery({ watch_id: watchId, sequence: 1, destination_id: 'a' }, 'stream_lost'),
        start,
      );

      expect(await store.states(watchId)).toEqual(states);
      expect(await store.state(watchId, 'mail')).toEqual(states[1]);
      expect(await store.state(watchId, 'ma')).toBeUndefined();
    });

    test('a put whose reply was lost can be repeated', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const state = initialDestinationState(randomUUID(), { destination_id: 'team', fingerprint: 'f1' });

      await expect(putState(losing, state)).rejects.toThrow(TransientError);
      await putState(losing, state);

      expect(await store.states(state.watch_id)).toEqual([state]);
    });

    test('concurrent changes of one state are all kept', async () => {
      const store = await makeStore();
      const state = initialDestinationState(randomUUID(), { destination_id: 'team', fingerprint: 'f1' });
      const count = () =>
        store.changeState(state.watch_id, 'team', (stored = state) => ({
          ...stored,
          failures: stored.failures + 1,
        }));
      await Promise.all([count(), count(), count(), count()]);
      expect(await store.state(state.watch_id, 'team')).toEqual({ ...state, failures: 4 });
    });
  });
}

function putState(store: WatchDeliveryStore, state: DestinationState): Promise<DestinationState> {
  return store.changeState(state.watch_id, state.destination_id, () => state);
}
