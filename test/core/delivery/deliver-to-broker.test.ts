import { expect, test } from 'vitest';
import { withLargestState } from '../../contract/watch-records.ts';
import { closed, createWatching, failing, first, opened } from '../../support/watches/delivery.ts';

test('a broker gets the state at the attempt, and reads it again after it', async () => {
  const shown: unknown[] = [];
  const watch = await createWatching(
    async ({ current, readCurrent }) => {
      await watch.commit([], { state: withLargestState(watch.watch).state });
      shown.push(current, await readCurrent?.());
      return {};
    },
    [{ type: 'mqtt' }],
  );
  await watch.commit([opened(first)]);
  await watch.pass(10);
  expect(shown).toMatchObject([{ openConditions: [] }, { openConditions: { length: 8 } }]);
});

test('a destination that is removed during an attempt has no state any more', async () => {
  let shown: unknown;
  const watch = await createWatching(
    async ({ readCurrent }) => {
      await watch.edit(({ config, ...rest }) => ({ ...rest, config: { ...config, destinations: [] } }));
      shown = await readCurrent?.();
      return {};
    },
    [{ type: 'pagerduty' }],
  );
  await watch.commit([opened(first)]);
  await watch.pass(10);
  expect(shown).toBeNull();
});

test('events of an alert keep their order at a broker, and the first that arrives shows that it is over', async () => {
  const watch = await createWatching(
    (_, before) => (before === 0 && watch.sent.length === 1 ? failing : {}),
    [{ type: 'mqtt' }],
  );
  await watch.commit([opened(first), closed(first)]);
  await watch.pass(10);
  expect(watch.types()).toEqual(['team alert_opened', 'team alert_opened', 'team alert_closed']);
  expect(watch.sent.map(({ current }) => current?.openConditions)).toEqual([[], [], []]);
});

test('a broker gets no state of a deleted watch, so that it removes what it keeps', async () => {
  const watch = await createWatching(() => ({}), [{ type: 'mqtt' }]);
  const deleted_at = watch.deps.now().toISOString();
  await watch.commit([{ type: 'watch_changed', data: { status: 'active', reason: 'deleted' } }], {
    deleted_at,
  });
  await watch.pass(10);
  expect(watch.sent.map(({ current }) => current)).toEqual([null]);
});
