import { expect, test } from 'vitest';
import { sendTestAlert } from '../../../core/delivery/test-deliveries.ts';
import { createWatching, failing, first, opened } from '../../support/watches/delivery.ts';

test('a test alert reaches all destinations once, and each result is returned', async () => {
  const watch = await createWatching(
    ({ to }) => (to === 'down' ? failing : {}),
    [{ destination_id: 'up' }, { destination_id: 'down' }],
  );
  expect(await sendTestAlert(watch.watch, watch.deps)).toEqual([
    { destination_id: 'up', type: 'slack', status: 204, latency_ms: 1, error: null },
    {
      destination_id: 'down',
      type: 'slack',
      status: 503,
      latency_ms: 1,
      error: 'the receiver answered 503',
    },
  ]);
  await watch.pass(60);
  expect(watch.types().toSorted()).toEqual(['down test', 'up test']);
});

test('a test alert carries a picture, which a webhook gets if it wants frames', async () => {
  const watch = await createWatching(() => ({}), [{ destination_id: 'a', include_frame: true }]);
  const { destinations } = watch.deps;
  const pictures: unknown[] = [];
  const send: typeof destinations.send = async (address, notification) => {
    pictures.push([notification.frame?.length, notification.includeFrame]);
    return destinations.send(address, notification);
  };
  await sendTestAlert(watch.watch, { ...watch.deps, destinations: { ...destinations, send } });
  expect(pictures).toEqual([[expect.any(Number), true]]);
});

test('concurrent and repeated test alerts reach a destination once in ten seconds', async () => {
  const watch = await createWatching(() => ({}));
  const test = async () => (await sendTestAlert(watch.watch, watch.deps))[0]?.error;
  const limited = expect.stringContaining('at most every 10 s: try again in 10 s');
  expect(await Promise.all([test(), test(), test()])).toEqual([null, limited, limited]);
  await watch.pass(9);
  expect(await test()).toContain('try again in 1 s');
  await watch.pass(1);
  expect(await test()).toBeNull();
  expect(watch.types()).toEqual(['team test', 'team test']);
});

test('a successful test alert enables a destination that was disabled', async () => {
  const watch = await createWatching(({ type }) => (type === 'test' ? {} : { status: 404, outcome: 'gone' }));
  await watch.commit([opened(first)]);
  await watch.pass(5);
  await sendTestAlert(watch.watch, watch.deps);
  const [state] = await watch.deps.deliveries.states({ run: 'watch', run_id: watch.watch.run_id });
  expect(state).toMatchObject({ disabled: null, failures: 0, last_error: null });
});

test('a success at an address that a change replaces meanwhile changes nothing at the new one', async () => {
  const watch = await createWatching(async () => {
    await deliveries.changeState(key, (state) => ({ ...state!, fingerprint: 'new', failures: 3 }));
    return {};
  });
  const { deliveries } = watch.deps;
  const key = { ...watch.runKey, destination_id: 'team' };
  await sendTestAlert(watch.watch, watch.deps);
  expect(await deliveries.state(key)).toMatchObject({ fingerprint: 'new', failures: 3 });
});
