import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { publishRun } from '../../../core/delivery/publish.ts';
import { TransientError } from '../../../core/errors.ts';
import type { Watch } from '../../../core/records/watch.ts';
import { messageGroup } from '../../../core/records/delivery.ts';
import type { Answer } from '../../support/watches/delivery.ts';
import { closed, createWatching, failing, first, opened, second } from '../../support/watches/delivery.ts';

test('each destination receives the events that it wants, once and in order', async () => {
  const watch = await createWatching(
    () => ({}),
    [
      { destination_id: 'all', type: 'webhook' },
      { destination_id: 'openings', type: 'slack', notify: 'openings' },
      { destination_id: 'closings', type: 'slack', notify: 'openings_and_closings' },
      { destination_id: 'critical', type: 'webhook', min_severity: 'critical' },
    ],
  );
  await watch.commit([opened(first), opened(second, 'critical'), closed(first)]);
  await watch.commit([{ type: 'watch_changed', data: { status: 'paused', reason: 'paused' } }]);
  await watch.pass(10);

  const received = (to: string) => watch.sent.filter((each) => each.to === to).map(({ type }) => type);
  expect(received('all').toSorted()).toEqual(
    ['alert_opened', 'alert_opened', 'alert_closed', 'watch_changed'].toSorted(),
  );
  expect(received('openings')).toEqual(['alert_opened', 'alert_opened']);
  expect(received('closings').toSorted()).toEqual(['alert_closed', 'alert_opened', 'alert_opened']);
  expect(received('critical')).toEqual(['alert_opened', 'watch_changed']);
  expect(watch.counted.every((outcome) => outcome === 'delivered')).toBe(true);
});

test('the news that a destination fails reaches the others alone', async () => {
  const watch = await createWatching(
    () => ({}),
    [
      { destination_id: 'broken', type: 'webhook' },
      { destination_id: 'mail', type: 'webhook' },
    ],
  );
  const data = { status: 'active', destination_id: 'broken' } as const;
  await watch.commit([
    { type: 'watch_changed', data: { ...data, reason: 'destination_failed', error: '404' } },
    { type: 'watch_changed', data: { ...data, reason: 'destination_recovered' } },
  ]);
  await watch.pass(10);
  expect(watch.types().toSorted()).toEqual([
    'broken watch_changed',
    'mail watch_changed',
    'mail watch_changed',
  ]);
});

test('an alert ends for those who received its opening, whatever changed since', async () => {
  const watch = await createWatching(
    () => ({}),
    [
      { destination_id: 'notified', type: 'webhook', min_severity: 'warning' },
      { destination_id: 'spared', type: 'webhook', min_severity: 'critical' },
      { destination_id: 'openings', type: 'webhook', notify: 'openings' },
      { destination_id: 'closings', type: 'webhook', notify: 'openings_and_closings' },
    ],
  );
  const lost = { reason: 'unreachable' as const, lost_seconds: 60, open_alerts: [] };
  await watch.commit([opened(first), { type: 'stream_lost', data: lost }]);
  const severities = { notified: 'critical', spared: 'info', openings: 'info', closings: 'info' } as const;
  await watch.edit(({ config, ...rest }) => ({
    ...rest,
    config: {
      ...config,
      destinations: config.destinations.map((each) => ({
        ...each,
        min_severity: severities[each.destination_id as keyof typeof severities],
      })),
    },
  }));
  watch.sent.length = 0;
  await watch.commit([closed(first), { type: 'stream_recovered', data: lost }]);
  await watch.pass(10);
  expect(watch.types().toSorted()).toEqual([
    'closings alert_closed',
    'closings stream_recovered',
    'notified alert_closed',
    'notified stream_recovered',
    'openings stream_recovered',
    'spared stream_recovered',
  ]);
  const states = await watch.deps.deliveries.states(watch.runKey);
  expect(states.flatMap(({ notified }) => notified)).toEqual([]);
});

test('an event that waited for a destination holds nothing back once the destination is added again', async () => {
  let isDown = true;
  const watch = await createWatching(() => (isDown ? failing : {}), [{ type: 'webhook' }]);
  const data = { status: 'active', reason: 'resumed' } as const;
  await watch.commit([{ type: 'watch_changed', data }]);
  await watch.pass(1);
  let removed: Watch['config']['destinations'] = [];
  const setDestinations = (destinations: Watch['config']['destinations']) =>
    watch.edit(({ config, ...rest }) => {
      removed = config.destinations;
      return { ...rest, config: { ...config, destinations } };
    });
  await setDestinations([]);
  await watch.pass(48 * 3600);
  await setDestinations(removed);
  isDown = false;
  watch.sent.length = 0;
  await watch.commit([{ type: 'watch_changed', data }]);
  await watch.pass(10);
  expect(watch.sent).toHaveLength(1);
  expect((await watch.deps.deliveries.states(watch.runKey))[0]).toMatchObject({ waiting: [] });
});

test('an event that was held back and fails at its first attempt is repeated as soon as any other', async () => {
  const answers = [failing, {}, failing, {}];
  const watch = await createWatching(() => answers.shift() ?? {}, [{ type: 'webhook' }]);
  await watch.commit([opened(first), closed(first)]);
  await watch.pass(60);
  expect(watch.types().map((type) => type.slice(5))).toEqual([
    'alert_opened',
    'alert_opened',
    'alert_closed',
    'alert_closed',
  ]);
  await watch.pass(48 * 3600);
  expect(watch.sent).toHaveLength(4);
});

test.each([0, 1])(
  'an event is sent once although the service stops between its delivery and the state, after %i failures',
  async (failures) => {
    const watch = await createWatching(
      (_, before) => (before < failures ? failing : {}),
      [{ type: 'webhook' }],
    );
    const { deliveries } = watch.deps;
    const { put, changeState } = deliveries;
    deliveries.put = async (delivery, now) => {
      await put(delivery, now);
      if (delivery.state === 'delivered')
        deliveries.changeState = async () => {
          deliveries.changeState = changeState;
          throw new TransientError('the service stops');
        };
    };
    await watch.commit([opened(first)]);
    await watch.pass(120);
    expect(watch.sent).toHaveLength(1 + failures);
    const [state] = await deliveries.states(watch.runKey);
    expect(state).toMatchObject({ waiting: [], notified: [{ subject: first, delivered: true }] });
    await watch.commit([closed(first)]);
    await watch.pass(1);
    expect(watch.sent).toHaveLength(2 + failures);
  },
);

test('a closing names the message that its receiver has of the opening', async () => {
  const openings: (string | undefined)[] = [];
  const watch = await createWatching(
    ({ opening }) => {
      openings.push(opening);
      return { receipt: '41' };
    },
    [{ type: 'telegram' }],
  );
  await watch.commit([opened(first)]);
  await watch.pass(1);
  await watch.commit([closed(first), opened(second)]);
  await watch.pass(10);
  expect(openings).toEqual([undefined, '41', undefined]);
});

test('a success at a destination ends the waits of all its events, each alert in its order', async () => {
  let isDown = true;
  const watch = await createWatching(() => (isDown ? failing : {}), [{ type: 'webhook' }]);
  await watch.commit([opened(first), opened(second), closed(first)]);
  await watch.pass(2 * 3600);
  isDown = false;
  watch.sent.length = 0;
  await watch.commit([
    { type: 'stream_lost', data: { reason: 'unreachable', lost_seconds: 60, open_alerts: [] } },
  ]);
  await watch.pass(1);
  expect(watch.types().map((type) => type.slice(5))).toEqual([
    'stream_lost',
    'alert_opened',
    'alert_opened',
    'alert_closed',
  ]);
  expect(watch.sent.findLast(({ type }) => type === 'alert_closed')?.alert).toBe(first);
  expect((await watch.deps.deliveries.states(watch.runKey))[0]).toMatchObject({ waiting: [] });
  await watch.pass(48 * 3600);
  expect(watch.sent).toHaveLength(4);
});

test.each([
  ['a success wakes', 3, [0, 3]],
  ['is due', 6, [0, 5]],
])('an event that %s is attempted once while its receiver takes long to respond', async (_, at, times) => {
  const watch = await createWatching(
    async ({ alert: id }, before) => {
      if (id === first && before > 0) await watch.wait(10);
      return id === first && before === 0 ? failing : {};
    },
    [{ type: 'webhook' }],
  );
  await watch.commit([opened(first)]);
  await watch.pass(at);
  await watch.commit([opened(second)]);
  await watch.pass(24 * 3600);
  expect(watch.sent.filter(({ alert: id }) => id === first).map((each) => each.at)).toEqual(times);
  expect(watch.counted).toEqual(['delivered', 'delivered']);
  expect((await watch.deps.deliveries.states(watch.runKey))[0]).toMatchObject({ waiting: [] });
});

test.each([
  ['first', 1],
  ['second', 2],
])('a closing waits for an opening whose %s result was stored in part', async (_, attempts) => {
  const watch = await createWatching(
    ({ type }, before) => (type === 'alert_opened' && before < 2 ? failing : {}),
    [{ type: 'webhook' }],
  );
  const { changeState } = watch.deps.deliveries;
  let writes = 0;
  watch.store.stopPublishing();
  await watch.commit([opened(first), closed(first)]);
  await publishRun(watch.runKey, watch.deps);
  watch.deps.deliveries.changeState = async (...change) => {
    const isResult = watch.sent.length >= attempts;
    if (isResult && (writes += 1) === 1) throw new TransientError('The disk is full');
    return changeState(...change);
  };
  await watch.pass(600);
  expect(watch.types()).toEqual([
    ...Array.from({ length: 3 }, () => 'team alert_opened'),
    'team alert_closed',
  ]);
  expect((await watch.deps.deliveries.states(watch.runKey))[0]).toMatchObject({ waiting: [] });
});

test('a delivery whose event is no longer kept ends as failed', async () => {
  const watch = await createWatching(() => failing);
  await watch.commit([opened(first)]);
  await watch.pass(1);
  watch.deps.runs.event = async () => undefined;
  await watch.pass(3600);
  const key = { ...watch.runKey, sequence: 1, destination_id: 'team' };
  expect(await watch.deps.deliveries.get(key)).toMatchObject({
    state: 'failed',
    error: 'Failed to deliver: the event is no longer kept',
  });
});

test('the publisher stops at a hole of the log, and publishes the event in it before later ones', async () => {
  const watch = await createWatching(() => ({}), [{ type: 'webhook' }]);
  const { events } = watch.deps.runs;
  let hidden = 2;
  const reading = {
    ...watch.deps,
    runs: {
      ...watch.deps.runs,
      events: async (...read: Parameters<typeof events>) =>
        (await events(...read)).filter(({ sequence }) => sequence !== hidden),
    },
  };
  watch.store.stopPublishing();
  await watch.commit([opened(first), opened(second), closed(first)]);
  const publish = async () => {
    await publishRun(watch.runKey, reading);
    return watch.queued.map((message) => 'sequence' in message && message.sequence);
  };
  expect(await publish()).toEqual([1]);
  hidden = 0;
  expect(await publish()).toEqual([1, 2, 3]);
});

test('a closing waits for its opening, and another alert does not', async () => {
  const watch = await createWatching(
    ({ alert: id }, before) => (id === first && before < 2 ? failing : {}),
    [{ type: 'webhook' }],
  );
  await watch.commit([opened(first), closed(first), opened(second)]);

  await watch.pass(3);
  expect(watch.sent.map(({ alert: id }) => id)).toEqual(expect.arrayContaining([first, second]));
  expect(watch.sent.filter(({ type }) => type === 'alert_closed')).toEqual([]);

  await watch.pass(60);
  const ofFirst = watch.sent.filter(({ alert: id }) => id === first).map(({ type }) => type);
  expect(ofFirst.slice(0, 3)).toEqual(['alert_opened', 'alert_opened', 'alert_opened']);
  expect(ofFirst.indexOf('alert_closed')).toBe(3);
});

test('attempts last about a day and then fail, and the next event of the alert is attempted', async () => {
  const watch = await createWatching(({ type }) => (type === 'alert_opened' ? failing : {}));
  await watch.commit([opened(first), closed(first)]);
  await watch.pass(24 * 3600);

  const waits = watch.sent.filter(({ type }) => type === 'alert_opened').map(({ at }) => at);
  expect(waits.map((at, index) => at - (waits[index - 1] ?? 0))).toEqual([
    0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200,
  ]);
  expect(watch.types().at(-1)).toBe('team alert_closed');
  expect(watch.counted).toEqual(['failed', 'delivered']);
  expect(
    await watch.deps.deliveries.get({ ...watch.runKey, sequence: 1, destination_id: 'team' }),
  ).toMatchObject({
    state: 'failed',
    error: 'Failed to deliver: the receiver answered 503',
  });
});

test('a destination waits for the Retry-After of its vendor', async () => {
  const limited: Answer = { status: 429, outcome: 'retry', retryAfter: '900' };
  const watch = await createWatching((_, before) => (before === 0 ? limited : {}));
  await watch.commit([opened(first)]);
  await watch.pass(1_000);
  expect(watch.sent.map(({ at }) => at)).toEqual([0, 900]);
});

test('a destination that is gone is disabled visibly and receives nothing until its address changes', async () => {
  const watch = await createWatching(() => ({ status: 404, outcome: 'gone' }));
  await watch.commit([opened(first)]);
  await watch.pass(5);
  await watch.commit([closed(first), opened(second)]);
  await watch.pass(5);

  expect(watch.sent).toHaveLength(1);
  expect(await watch.deps.deliveries.states(watch.runKey)).toMatchObject([
    { destination_id: 'team', failures: 1, disabled: { reason: 'the receiver answered 404' } },
  ]);
  expect(watch.counted).toEqual(['failed', 'failed', 'failed']);
  expect(watch.log.entries.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('Destination disabled'),
  );

  const [state] = await watch.deps.deliveries.states(watch.runKey);
  await watch.deps.deliveries.changeState(state!, () => ({ ...state!, fingerprint: 'another' }));
  await watch.commit([closed(second), opened(randomUUID())]);
  await watch.pass(5);
  expect(watch.sent).toHaveLength(2);
});

test('an event that a vendor rejects is given up, and the destination stays', async () => {
  const watch = await createWatching(({ type }) =>
    type === 'alert_opened' ? { status: 400, outcome: 'rejected' } : {},
  );
  await watch.commit([opened(first), closed(first)]);
  await watch.pass(5);
  expect(watch.types()).toEqual(['team alert_opened', 'team alert_closed']);
});

test('attempts at an address of a vendor are a second apart', async () => {
  const watch = await createWatching(() => ({}));
  await watch.commit([opened(first), closed(first), opened(second), closed(second)]);
  await watch.pass(10);
  const times = watch.sent.map(({ at }) => at);
  expect(times).toHaveLength(4);
  expect(times.at(-1)).toBeGreaterThanOrEqual(1);
});

test('publishing again sends nothing twice, and all attempts have one id', async () => {
  const watch = await createWatching((_, before) => (before === 0 ? failing : {}));
  await watch.commit([opened(first)]);
  await watch.deps.runs.markPublished(watch.watch.run_id, 0);
  await publishRun(watch.runKey, watch.deps);
  await watch.pass(60);
  expect(watch.sent).toHaveLength(2);
  expect(new Set(watch.sent.map(({ id }) => id))).toEqual(new Set([`msg_${watch.watch.run_id}_1`]));
});

test('events whose publication failed are published by the repair', async () => {
  const watch = await createWatching(() => ({}));
  const { send } = watch.deps.queue;
  watch.deps.queue.send = async () => {
    throw new Error('the queue is full');
  };
  await watch.commit([opened(first)]);
  await watch.pass(10);
  expect(watch.sent).toEqual([]);
  watch.deps.queue.send = send;
  const due = await watch.deps.runs.dueForRepair(watch.deps.now(), 10);
  for (const id of due) await publishRun({ run: 'watch', run_id: id }, watch.deps);
  await watch.pass(10);
  expect(watch.types()).toEqual(['team alert_opened']);
});

test('progress reaches no destination, and the group of a message fits SQS', async () => {
  const watch = await createWatching(() => ({}), [{ destination_id: 'd'.repeat(40) }]);
  const failed = {
    status: 'active',
    reason: 'destination_failed',
    destination_id: 'e'.repeat(40),
  } as const;
  await watch.commit([opened(first), { type: 'watch_changed', data: failed }]);
  expect(watch.queued).toHaveLength(2);
  for (const message of watch.queued) expect(messageGroup(message).length).toBeLessThanOrEqual(128);
});
