import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { initialDestinationState } from '../../core/delivery/destination-state.ts';
import { TransientError } from '../../core/errors.ts';
import type { DeliveryStore } from '../../core/ports/delivery.ts';
import { initialDelivery, type DestinationState, type RunKey } from '../../core/records/delivery.ts';
import { withLostReplies } from './lost-replies.ts';
import { start } from './records.ts';

/** Contract of `DeliveryStore`. `makeStore` returns an empty store. */
export function describeDeliveryStore(name: string, makeStore: () => Promise<DeliveryStore>): void {
  describe.each(['job', 'watch'] as const)(`${name} as a delivery store of a %s`, (run) => {
    const newRun = (): RunKey => ({ run, run_id: randomUUID() });
    const delivery = (of: RunKey, sequence: number, destination = 'team') =>
      initialDelivery({ ...of, sequence, destination_id: destination }, 'alert_opened');
    const state = (of: RunKey, destination = 'team') =>
      initialDestinationState({ ...of, destination_id: destination, fingerprint: 'f1' });

    test('a delivery is found by run, sequence and destination, as it was stored last', async () => {
      const store = await makeStore();
      const key = newRun();
      await store.put(delivery(key, 7), start);
      const attempt = {
        at: start.toISOString(),
        status: null,
        latency_ms: 30_000,
        error: 'No response in time',
        resend: 0,
      };
      const failed = { ...delivery(key, 7), state: 'failed' as const, attempts: [attempt], resend: 1 };
      await store.put(failed, start);

      expect(await store.get(delivery(key, 7))).toEqual(failed);
      for (const other of [delivery(key, 7, 'mail'), delivery(key, 70), delivery(newRun(), 7)])
        expect(await store.get(other)).toBeUndefined();
    });

    test('deliveries are listed by sequence and destination, in pages, without those of other runs', async () => {
      const store = await makeStore();
      const key = newRun();
      for (const sequence of [10, 2, 1, 11]) await store.put(delivery(key, sequence), start);
      await store.put(delivery(key, 2, 'mail'), start);
      await store.put(delivery(newRun(), 2), start);
      await putState(store, state(key));

      const list = async (after: number, limit: number) =>
        (await store.list(key, after, limit)).map((each) => `${each.sequence} ${each.destination_id}`);
      expect(await list(0, 3)).toEqual(['1 team', '2 mail', '2 team']);
      expect(await list(2, 10)).toEqual(['10 team', '11 team']);
      expect(await list(11, 10)).toEqual([]);
    });

    test('states are listed by destination, without those of other runs and without deliveries', async () => {
      const store = await makeStore();
      const key = newRun();
      const disabled = { at: start.toISOString(), reason: 'the receiver answered 404' };
      const states = ['a', 'mail', 'team'].map((id) => ({ ...state(key, id), disabled }));
      for (const each of states.toReversed()) await putState(store, each);
      await putState(store, state(newRun()));
      await store.put(delivery(key, 1, 'a'), start);

      expect(await store.states(key)).toEqual(states);
      expect(await store.state(state(key, 'mail'))).toEqual(states[1]);
      expect(await store.state(state(key, 'ma'))).toBeUndefined();
    });

    test('concurrent changes of one state are all kept', async () => {
      const store = await makeStore();
      const first = state(newRun());
      const count = () =>
        store.changeState(first, (stored = first) => ({ ...stored, failures: stored.failures + 1 }));
      await Promise.all([count(), count(), count(), count()]);
      expect(await store.state(first)).toEqual({ ...first, failures: 4 });
    });

    test('a write whose reply was lost can be repeated', async () => {
      const store = await makeStore();
      const losing = withLostReplies(store);
      const key = newRun();

      await expect(losing.put(delivery(key, 1), start)).rejects.toThrow(TransientError);
      await losing.put(delivery(key, 1), start);
      await expect(putState(losing, state(key))).rejects.toThrow(TransientError);
      await putState(losing, state(key));

      expect(await store.list(key, 0, 10)).toEqual([delivery(key, 1)]);
      expect(await store.states(key)).toEqual([state(key)]);
    });
  });
}

function putState(store: DeliveryStore, state: DestinationState): Promise<DestinationState> {
  return store.changeState(state, () => state);
}
