import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createDeliveryQueue } from '../../../adapters/embedded/delivery-queue.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createWatchDeliveryStore } from '../../../adapters/embedded/watch-delivery-store.ts';
import { createWatchStore } from '../../../adapters/embedded/watch-store.ts';
import { deliverWatchEvent } from '../../../core/delivery/deliver-watch-event.ts';
import {
  publishCommits,
  publishDueWatchEvents,
  publishWatchEvents,
} from '../../../core/delivery/publish-watch-events.ts';
import { sendTestAlert } from '../../../core/delivery/test-destinations.ts';
import type { WatchChange } from '../../../core/ports/watch-store.ts';
import type { DestinationResult, Notification } from '../../../core/ports/destinations.ts';
import { messageGroup, type QueueMessage } from '../../../core/records/delivery.ts';
import type { Destination, DestinationAddress } from '../../../core/records/watch.ts';
import type { NewWatchEvent } from '../../../core/records/watch-event.ts';
import { toWatchEvents } from '../../../core/watch/commit-watch.ts';
import { createCollectedLog } from '../../adapters/embedded/collected-log.ts';
import { createFakeTime } from '../../adapters/embedded/fake-time.ts';
import { newChange, newCreation } from '../../contract/watch-records.ts';
import { destination } from '../../support/watch-records.ts';
import { evidenceLinks } from '../../support/watch-alerts.ts';

type Answer = Partial<DestinationResult>;
type Sent = { at: number; to: string; type: string; alert: string | undefined; id: string };

const [first, second] = [randomUUID(), randomUUID()];
const allEvents: Destination['events'] = [
  'alert_opened',
  'alert_reminder',
  'alert_acknowledged',
  'alert_closed',
  'stream_lost',
  'stream_recovered',
  'watch_changed',
];

function opened(alertId: string, severity: 'info' | 'warning' | 'critical' = 'warning'): NewWatchEvent {
  return {
    type: 'alert_opened',
    data: { ...alert(alertId, severity), explanation: 'A person.', checks: [], frame_key: 'evidence/1.jpg' },
  };
}
function closed(alertId: string): NewWatchEvent {
  return {
    type: 'alert_closed',
    data: {
      ...alert(alertId),
      closed_at: '2026-03-01T12:05:00.000Z',
      open_seconds: 300,
      reason: 'cleared',
      explanation: '',
      frame_key: null,
    },
  };
}
function alert(alertId: string, severity: 'info' | 'warning' | 'critical' = 'warning') {
  return {
    alert_id: alertId,
    condition_id: 'person',
    condition: 'A person is at the gate',
    severity,
    opened_at: '2026-03-01T12:00:00.000Z',
  };
}

/** A stored watch, the queue of one machine and destinations whose answers are scripted. */
async function createWatching(
  answer: (sent: Sent, before: number) => Answer,
  destinations: Partial<Destination>[] = [{}],
) {
  const database = openDatabase(':memory:');
  const time = createFakeTime();
  const log = createCollectedLog();
  const queue = createDeliveryQueue({ database, now: time.now, setTimer: time.setTimer, log });
  const queued: QueueMessage[] = [];
  const store = createWatchStore(database);
  const creation = newCreation();
  const list = destinations.map((each) => ({ ...destination, events: allEvents, ...each }));
  const addresses: DestinationAddress[] = list.map(({ destination_id, type }) => ({
    destination_id,
    type,
    url: 'https://example.com/secret',
  }));
  creation.watch.config.destinations = list;
  creation.secrets.destinations = addresses;
  await store.create({ ...creation, events: [], run: { ...creation.run, sequence: 0 } }, time.now());
  const sent: Sent[] = [];
  const began = time.now().getTime();
  const counted: string[] = [];
  const publishing = {
    queue: {
      send: async (message: QueueMessage) => {
        queued.push(message);
        await queue.send(message);
      },
    },
    log,
    now: time.now,
  };
  const watches = publishCommits(store, publishing);
  const deps = {
    ...publishing,
    watches,
    watchDeliveries: createWatchDeliveryStore(database),
    media: {
      get: async () => Uint8Array.of(1),
      put: async () => undefined,
      remove: async () => undefined,
      removeOfSource: async () => 0,
    },
    meter: {
      count: async ({ kind, ...rest }: any) =>
        void (kind === 'delivery' && counted.push(rest.delivered ? 'delivered' : 'failed')),
      read: async () => {
        throw new Error('not read');
      },
    },
    destinations: {
      reasonToRefuse: () => null,
      send: async (address: DestinationAddress, { event, id }: Notification) => {
        const each: Sent = {
          at: Math.round((time.now().getTime() - began) / 1000),
          to: address.destination_id,
          type: event.type,
          alert: 'alert_id' in event.data ? event.data.alert_id : undefined,
          id,
        };
        const before = sent.filter((other) => other.id === id && other.to === each.to).length;
        sent.push(each);
        const result = { status: 204, latencyMs: 1, error: null, retryAfter: null, outcome: 'delivered' };
        return { ...result, ...answer(each, before) } as DestinationResult;
      },
    },
    evidenceLinks,
    newId: () => randomUUID(),
    random: () => 0.5,
  };
  const consumer = queue.consume(async (message) =>
    'watch_id' in message ? deliverWatchEvent(message, deps) : { kind: 'done' },
  );
  let { run } = creation;
  return {
    sent,
    queued,
    counted,
    deps,
    log,
    pass: time.pass,
    watch: creation.watch,
    types: () => sent.map(({ to, type }) => `${to} ${type}`),
    commit: async (events: NewWatchEvent[], set: Partial<WatchChange['set']> = {}) => {
      const stored = await watches.get(creation.watch.watch_id);
      run = stored!.run;
      const at = toWatchEvents(events, creation.watch, run.sequence, time.now());
      const change = newChange(
        { ...creation, run },
        { events: at, set: { ...set, sequence: run.sequence + at.length } },
      );
      expect(await watches.commit(change)).toBe('committed');
    },
    close: () => consumer.close(),
  };
}

const failing: Answer = { status: 503, outcome: 'retry' };

describe('events of a watch', () => {
  test('each destination receives the events that it wants, once and in order', async () => {
    const watch = await createWatching(
      () => ({}),
      [
        { destination_id: 'all', type: 'webhook' },
        { destination_id: 'closings', type: 'webhook', events: ['alert_closed'] },
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
    expect(received('closings')).toEqual(['alert_closed']);
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

  test('a closing waits for its opening, and another alert does not', async () => {
    const watch = await createWatching(({ alert: id }, before) =>
      id === first && before < 2 ? failing : {},
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
    const { watch_id: id } = watch.watch;
    expect(await watch.deps.watchDeliveries.get(id, 1, 'team')).toMatchObject({
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
    const { watch_id: id } = watch.watch;
    expect(await watch.deps.watchDeliveries.states(id)).toMatchObject([
      { destination_id: 'team', failures: 1, disabled: { reason: 'the receiver answered 404' } },
    ]);
    expect(watch.counted).toEqual(['failed', 'failed', 'failed']);
    expect(watch.log.entries.map(({ message }) => message)).toContain('Destination disabled');

    const [state] = await watch.deps.watchDeliveries.states(id);
    await watch.deps.watchDeliveries.changeState(state!.watch_id, state!.destination_id, () => ({
      ...state!,
      fingerprint: 'another',
    }));
    await watch.commit([closed(second)]);
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
    await watch.deps.watches.markPublished(watch.watch.watch_id, 0);
    await publishWatchEvents(watch.watch.watch_id, watch.deps);
    await watch.pass(60);
    expect(watch.sent).toHaveLength(2);
    expect(new Set(watch.sent.map(({ id }) => id))).toEqual(new Set([`msg_${watch.watch.watch_id}_1`]));
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
    await publishDueWatchEvents(watch.deps, 10);
    await watch.pass(10);
    expect(watch.types()).toEqual(['team alert_opened']);
  });

  test('progress reaches no destination, and the group of a message fits SQS', async () => {
    const watch = await createWatching(() => ({}), [{ destination_id: 'd'.repeat(40) }]);
    await watch.commit([opened(first)]);
    expect(watch.queued).toHaveLength(1);
    for (const message of watch.queued) expect(messageGroup(message).length).toBeLessThanOrEqual(128);
  });
});

function failingDestination(id: string) {
  return {
    late_since: null,
    failing: [{ destination_id: id, since: '2026-03-01T12:00:00.000Z', error: 'the receiver answered 404' }],
  };
}

describe('a heartbeat', () => {
  const progress = (stream: 'ok' | 'stale' | 'reconnecting', triggered: boolean | null): NewWatchEvent => ({
    type: 'progress',
    data: {
      check: 1,
      conditions: [{ condition_id: 'person', triggered, state: 'clear', explanation: '' }],
      prefilter_skipped: false,
      motion: null,
      explanation: '',
      captured_at: null,
      stream,
      picture: null,
      next_check_at: null,
    },
  });

  test('a heartbeat follows checks that saw the stream, once a minute, and no alert', async () => {
    const watch = await createWatching(() => ({}), [{ destination_id: 'kuma', type: 'heartbeat' }]);
    await watch.commit([progress('ok', false), opened(first)]);
    await watch.pass(10);
    await watch.commit([progress('ok', true)]);
    await watch.pass(50);
    await watch.commit([progress('ok', false)]);
    await watch.pass(60);
    expect(watch.sent.map(({ at, type }) => [at, type])).toEqual([
      [0, 'heartbeat'],
      [60, 'heartbeat'],
    ]);
  });

  test.each([
    ['checks are late', { health: { late_since: '2026-03-01T12:00:00.000Z', failing: [] } }, {}],
    ['the model fails', { model_failures_in_a_row: 1 }, {}],
    ['the stream is lost', {}, { status: 'stream_lost' as const }],
    ['another destination fails', { health: failingDestination('team') }, {}],
  ])('a heartbeat is silent while %s', async (_, state, set) => {
    const watch = await createWatching(() => ({}), [{ destination_id: 'kuma', type: 'heartbeat' }]);
    const before = await watch.deps.watches.get(watch.watch.watch_id);
    await watch.commit([progress('ok', false)], { ...set, state: { ...before!.run.state, ...state } });
    await watch.pass(10);
    expect(watch.sent).toEqual([]);
  });

  test('a heartbeat that failed itself is called again', async () => {
    const watch = await createWatching(() => ({}), [{ destination_id: 'kuma', type: 'heartbeat' }]);
    const before = await watch.deps.watches.get(watch.watch.watch_id);
    const state = { ...before!.run.state, health: failingDestination('kuma') };
    await watch.commit([progress('ok', false)], { state });
    await watch.pass(10);
    expect(watch.sent).toHaveLength(1);
  });

  test('a lost stream, a failed model and a failing monitor cause no heartbeat and no retry', async () => {
    const watch = await createWatching(() => failing, [{ destination_id: 'kuma', type: 'heartbeat' }]);
    await watch.commit([progress('reconnecting', null), progress('stale', null), progress('ok', null)]);
    await watch.pass(600);
    expect(watch.sent).toEqual([]);
    await watch.commit([progress('ok', false)]);
    await watch.pass(600);
    expect(watch.sent).toHaveLength(1);
    const [state] = await watch.deps.watchDeliveries.states(watch.watch.watch_id);
    expect(state).toMatchObject({ failures: 1, last_error: 'the receiver answered 503', disabled: null });
  });
});

describe('a test alert', () => {
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
    const watch = await createWatching(({ type }) =>
      type === 'test' ? {} : { status: 404, outcome: 'gone' },
    );
    await watch.commit([opened(first)]);
    await watch.pass(5);
    await sendTestAlert(watch.watch, watch.deps);
    const [state] = await watch.deps.watchDeliveries.states(watch.watch.watch_id);
    expect(state).toMatchObject({ disabled: null, failures: 0, last_error: null });
  });
});
