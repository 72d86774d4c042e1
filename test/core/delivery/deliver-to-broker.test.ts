import { describe, expect, test } from 'vitest';
import { withOpenConditions } from '../../contract/watch-records.ts';
import { closed, createWatching, failing, first, opened } from '../../support/watches/delivery.ts';

describe('a broker, which keeps the state of a watch', () => {
  test('a broker gets the state at the attempt, and again if it has changed meanwhile', async () => {
    const watch = await createWatching(async () => {
      if (watch.sent.length === 1) await watch.commit([], { state: withOpenConditions(watch.watch).state });
      return {};
    }, [{ type: 'mqtt' }]);
    await watch.commit([opened(first)]);
    await watch.pass(10);
    expect(watch.sent.map(({ current }) => current?.openConditions.length)).toEqual([0, 8]);
  });

  test('an event that waits for a broker holds back no later one of its alert', async () => {
    const watch = await createWatching(
      ({ type }) => (type === 'alert_opened' ? failing : {}),
      [{ type: 'mqtt' }],
    );
    await watch.commit([opened(first), closed(first)]);
    await watch.pass(3);
    expect(watch.types().slice(0, 2)).toEqual(['team alert_opened', 'team alert_closed']);
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
});
