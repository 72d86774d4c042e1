import { afterEach, describe, expect, test } from 'vitest';
import { eraseCaller } from '../../../core/access/erase-caller.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import { rotateWebhookSecret } from '../../../core/delivery/webhook-secret.ts';
import { publishCreations, publishRun } from '../../../core/delivery/publish.ts';
import type { DestinationResult } from '../../../core/ports/destinations.ts';
import type { DeliveryMessage } from '../../../core/records/delivery.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import { deleteStoredWatch, pauseStoredWatch } from '../../../core/watch/control-watch.ts';
import { createWatch } from '../../../core/watch/create-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
afterEach(() => world.close());

type Sent = { url: string; type: string; reason: string | undefined; isRemoval: boolean; id: string };

const old = 'https://old.example/hook?key=1';
const other = 'https://new.example/hook?key=2';
const team = { destination_id: 'team', type: 'webhook' as const, url: old };
const person = {
  condition: 'a person',
  condition_id: 'person',
  checks_to_open: 1,
  checks_considered: 1,
  checks_to_close: 1,
};
const duty = { destination_id: 'duty', type: 'webhook' as const, url: 'https://duty.example/hook' };

/** A watch with destinations, whose receivers accept events unless `answer` says otherwise. */
async function begin(
  destinations: object[],
  answer: (sent: Sent) => Partial<DestinationResult> = () => ({}),
) {
  world = createWorld();
  const { c, clock, queuedForDestinations } = world;
  const sent: Sent[] = [];
  const accepted = {
    outcome: 'delivered',
    status: 200,
    latencyMs: 1,
    error: null,
    retryAfter: null,
  } as const;
  c.destinations.send = async ({ url = '' }, { id, event: { type, data }, current }) => {
    const reason = 'reason' in data ? data.reason : undefined;
    const each = { url, type, reason, isRemoval: current === null, id };
    sent.push(each);
    return { ...accepted, ...answer(each) };
  };
  c.watches = publishCreations(c.watches, c.runs, c);
  const request = {
    name: 'Gate',
    stream_url: 'https://camera.example/live.m3u8',
    conditions: [person],
    destinations,
  };
  const watch = await createWatch(watchRequestSchema.parse(request), 'alice', c);
  const { run_id: watchId } = watch;
  let step: WorkflowState = await world.begin({ run_id: watchId, generation: 0 });
  const waiting: { message: DeliveryMessage; due: number }[] = [];
  return {
    sent,
    watchId,
    take: () =>
      sent.splice(0).map(({ url, type, reason }) => [url, type, ...(reason ? [reason] : [])].join(' ')),
    tick: async (verdict: boolean) => {
      world.script.verdicts.push(verdict);
      step = await world.tick(step);
    },
    /** Delivers what is due within some seconds. */
    pass: async (seconds: number) => {
      const until = clock.now.getTime() + seconds * 1000;
      for (;;) {
        waiting.push(
          ...queuedForDestinations.splice(0).map((message) => ({ message, due: clock.now.getTime() })),
        );
        const [next] = waiting.toSorted((one, another) => one.due - another.due);
        if (!next || next.due > until) break;
        waiting.splice(waiting.indexOf(next), 1);
        clock.now = new Date(Math.max(clock.now.getTime(), next.due));
        const outcome = await deliver(next.message, c);
        if (outcome.kind === 'again')
          waiting.push({ ...next, due: clock.now.getTime() + 1000 * outcome.afterSeconds });
      }
      clock.now = new Date(until);
    },
    edit: async (fields: object) => {
      const patch = watchPatchSchema.parse(fields);
      const validate = (merged: unknown) => watchRequestSchema.parse(merged);
      const edited = await editWatch({ watchId, patch, ifMatch: undefined }, 'alice', c, validate);
      step = await world.begin({ run_id: watchId, generation: edited.generation });
      return presentWatch(edited, clock.now).former_destinations?.map(
        ({ destination_id: id, url_masked: url }) => [id, url],
      );
    },
    /** Everything that is stored of addresses. */
    stored: async () => {
      const stored = await c.watches.getIncludingEnded(watchId);
      return JSON.stringify([stored, await c.watches.secrets(watchId)]);
    },
  };
}

const closedBefore = `${old} alert_closed destination_changed`;
const removed = { destinations: [duty] };
const moved = { destinations: [duty, { ...team, url: other }] };

describe('a destination that a change removes or gives another address', () => {
  test.each([
    ['is removed', removed],
    ['has another address', moved],
  ])(
    'a destination gets the end of an open alert at its address before, once, if it %s',
    async (_, patch) => {
      const watch = await begin([duty, team]);
      await watch.tick(true);
      await watch.pass(10);
      watch.take();
      expect(await watch.edit(patch)).toEqual([['team', 'https://old.example/***']]);
      expect(await watch.stored()).toContain(old);
      await watch.pass(10);
      const received = watch.take();
      expect(received).toContain(closedBefore);
      expect(received.filter((each) => each.includes('alert_closed'))).toEqual([closedBefore]);
      expect(await watch.stored()).not.toContain(old);
      expect(await watch.edit({ name: 'Gate, north' })).toBeUndefined();

      await watch.tick(false);
      await watch.pass(10);
      const later = watch.take();
      expect(later.filter((each) => each.includes('alert_closed'))).toEqual([
        'https://duty.example/hook alert_closed cleared',
      ]);
      expect(later.filter((each) => each.startsWith(old))).toEqual([]);
    },
  );

  test('each end has an id of its own, and only the last destination that is removed has ends', async () => {
    const watch = await begin([team]);
    await watch.tick(true);
    await watch.pass(10);
    await watch.edit({
      conditions: [
        { condition: 'a person', condition_id: 'person', checks_to_open: 1, checks_considered: 1 },
        { condition: 'a dog', condition_id: 'dog', checks_to_open: 1, checks_considered: 1 },
      ],
    });
    world.c.vision.judge = async (_media, questions) => ({
      moments: [questions.map(({ condition_id }) => ({ condition_id, triggered: true, explanation: '' }))],
      tokens: { input_tokens: 1, output_tokens: 1 },
    });
    await watch.tick(true);
    await watch.pass(10);
    watch.sent.length = 0;
    await watch.edit({ destinations: [] });
    await watch.pass(10);
    const ids = watch.sent.map(({ type, id }) => [type, id]);
    expect(ids.map(([type]) => type)).toEqual(['alert_closed', 'alert_closed']);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(2);
    expect(await watch.stored()).not.toContain(old);
  });

  test('a destination that is removed gets the end of a lost stream', async () => {
    const watch = await begin([team]);
    world.script.captures.push(...Array.from({ length: 8 }, () => new StreamFetchError('no connection')));
    for (let tick = 0; tick < 8; tick += 1) await watch.tick(false);
    await watch.pass(10);
    expect(watch.take()).toContain(`${old} stream_lost unreachable`);
    await watch.edit({ destinations: [] });
    await watch.pass(10);
    expect(watch.sent.map(({ url, type }) => [url, type])).toEqual([[old, 'stream_recovered']]);
  });

  test('a destination that is removed gets the end that waits for a retry at its address before', async () => {
    let isDown = false;
    const watch = await begin([team], () => (isDown ? { status: 503, outcome: 'retry' } : {}));
    await watch.tick(true);
    await watch.pass(10);
    isDown = true;
    await watch.tick(false);
    await watch.pass(2);
    isDown = false;
    watch.take();
    await watch.edit({ destinations: [] });
    await watch.pass(60);
    expect(watch.take()).toEqual([`${old} alert_closed cleared`]);
  });

  test.each([
    ['waits for a retry', 2],
    ['is published and not attempted', 0],
  ])('a new address gets no end that %s at the address before', async (_, seconds) => {
    let isDown = false;
    const watch = await begin([team], ({ type }) =>
      isDown && type === 'alert_closed' ? { status: 503, outcome: 'retry' } : {},
    );
    await watch.tick(true);
    await watch.pass(10);
    isDown = true;
    await watch.tick(false);
    await watch.pass(seconds);
    isDown = false;
    watch.take();
    await watch.edit({ destinations: [{ ...team, url: other }] });
    await watch.pass(60);
    expect(watch.take().toSorted()).toEqual([
      `${other} watch_changed changed`,
      `${old} alert_closed cleared`,
    ]);

    await watch.tick(true);
    await watch.pass(10);
    await watch.tick(false);
    await watch.pass(10);
    expect(watch.take()).toEqual([`${other} alert_opened`, `${other} alert_closed cleared`]);
  });

  test('a new address gets the end of the next lost stream, although the end before waited at the address before', async () => {
    let isDown = false;
    const watch = await begin([team], () => (isDown ? { status: 503, outcome: 'retry' } : {}));
    const lose = async () => {
      world.script.captures.push(...Array.from({ length: 8 }, () => new StreamFetchError('no connection')));
      for (let tick = 0; tick < 8; tick += 1) await watch.tick(false);
      await watch.pass(10);
    };
    await lose();
    isDown = true;
    await watch.tick(false);
    await watch.pass(2);
    isDown = false;
    await watch.edit({ destinations: [{ ...team, url: other }] });
    await watch.pass(60);
    watch.take();
    await lose();
    await watch.tick(false);
    await watch.pass(10);
    const received = watch.take();
    expect(received.filter((each) => each.startsWith(old))).toEqual([]);
    expect(received).toContainEqual(expect.stringContaining(`${other} stream_recovered`));
  });

  test('a destination that is removed gets the end that is published and not attempted, although a reminder waits for a retry', async () => {
    const watch = await begin([team], ({ type }) =>
      type === 'alert_reminder' ? { status: 503, outcome: 'retry' } : {},
    );
    await watch.edit({ conditions: [{ ...person, remind_seconds: 60 }] });
    await watch.tick(true);
    await watch.pass(70);
    await watch.tick(true);
    await watch.pass(2);
    expect(watch.take()).toContain(`${old} alert_reminder`);
    await watch.tick(false);
    await watch.edit({ destinations: [] });
    await watch.pass(60);
    expect(watch.take()).toEqual([`${old} alert_closed cleared`]);
  });

  test('a destination that accepts an opening after the alert has closed gets the end that waits when it is removed', async () => {
    const down = new Set(['alert_opened', 'alert_closed']);
    const watch = await begin([team], ({ type }) =>
      down.has(type) ? { status: 503, outcome: 'retry' } : {},
    );
    await watch.tick(true);
    await watch.pass(1);
    await watch.tick(false);
    down.delete('alert_opened');
    await watch.pass(10);
    down.clear();
    watch.take();
    await watch.edit({ destinations: [] });
    await watch.pass(60);
    expect(watch.take()).toEqual([`${old} alert_closed cleared`]);
  });

  test('a destination that is disabled gets no end when it is removed', async () => {
    const watch = await begin([team], ({ type }) =>
      type === 'alert_reminder' ? { status: 410, outcome: 'gone' } : {},
    );
    await watch.edit({ conditions: [{ ...person, remind_seconds: 60 }] });
    await watch.tick(true);
    await watch.pass(70);
    await watch.tick(true);
    await watch.pass(10);
    await watch.tick(false);
    await watch.pass(10);
    watch.take();
    expect(await watch.edit({ destinations: [] })).toBeUndefined();
    await watch.pass(60);
    expect(watch.take()).toEqual([]);
  });

  test('an address before gets nothing of an alert whose opening it did not accept: the new address gets both', async () => {
    const watch = await begin([team], ({ url, type }) =>
      url === old && type === 'alert_opened' ? { status: 503, outcome: 'retry' } : {},
    );
    await watch.tick(true);
    await watch.pass(2);
    watch.take();
    expect(await watch.edit({ destinations: [{ ...team, url: other }] })).toBeUndefined();
    await watch.pass(60);
    await watch.tick(false);
    await watch.pass(60);
    expect(watch.take()).toEqual([
      `${other} watch_changed changed`,
      `${other} alert_opened`,
      `${other} alert_closed cleared`,
    ]);
    expect(await watch.stored()).not.toContain(old);
  });

  test('a former destination is attempted for an hour at most, and then its address is erased', async () => {
    const watch = await begin([team, duty], ({ url, type }) =>
      url === old && type === 'alert_closed' ? { status: 503, outcome: 'retry' } : {},
    );
    await watch.tick(true);
    await watch.pass(10);
    await watch.edit(removed);
    watch.take();
    await watch.pass(3600);
    expect(watch.take().filter((each) => each === closedBefore)).toHaveLength(6);
    expect(await watch.stored()).not.toContain(old);
    await watch.pass(100_000);
    expect(watch.take()).toEqual([]);
  });

  test('an address is not kept beyond an hour if its message is lost', async () => {
    const watch = await begin([team, duty]);
    await watch.tick(true);
    await watch.pass(10);
    await watch.edit(removed);
    world.queuedForDestinations.length = 0;
    await watch.pass(3600);
    expect(await watch.stored()).toContain(old);
    await watch.tick(false);
    await watch.pass(10);
    expect(await watch.stored()).not.toContain(old);
  });

  test.each([
    ['paused', pauseStoredWatch],
    ['deleted', deleteStoredWatch],
  ])('a destination that is removed gets its end although the watch is %s next', async (_, next) => {
    const watch = await begin([team]);
    await watch.tick(true);
    await watch.pass(10);
    watch.take();
    await watch.edit({ destinations: [] });
    await next(watch.watchId, 'alice', world.c);
    await watch.pass(10);
    expect(watch.take()).toEqual([closedBefore]);
    expect(await watch.stored()).not.toContain(old);
  });

  test('a former destination gets nothing, and leaves no address, if its caller is erased', async () => {
    const watch = await begin([team]);
    await watch.tick(true);
    await watch.pass(10);
    await watch.edit({ destinations: [] });
    watch.take();
    await eraseCaller({ hash: null, caller: null, revoked_at: null, scopes: ['admin'] }, 'alice', world.c);
    await watch.pass(10);
    expect(watch.take()).toEqual([]);
    expect(await watch.stored()).toBe('[null,null]');
  });

  test('a destination keeps what it has accepted if the event is published again', async () => {
    const watch = await begin([team]);
    await watch.tick(true);
    await watch.pass(10);
    const { c } = world;
    const again = { ...(await c.watches.getIncludingEnded(watch.watchId))!, published: 0 };
    const runs = {
      ...c.runs,
      markPublished: async () => undefined,
      getIncludingEnded: async () => again,
    };
    await publishRun({ run: 'watch', run_id: watch.watchId }, { ...c, runs });
    await watch.pass(10);
    watch.take();
    await watch.edit({ destinations: [] });
    await watch.pass(10);
    expect(watch.take()).toContain(closedBefore);
  });

  test('a broker removes what it keeps of the watch, unless the watch still publishes there', async () => {
    const broker = { destination_id: 'home', type: 'mqtt' as const, url: 'mqtt://user:one@broker.example' };
    const watch = await begin([broker]);
    await watch.tick(true);
    await watch.pass(10);
    watch.sent.length = 0;
    await watch.edit({ destinations: [{ ...broker, url: 'mqtts://user:one@broker.example:8883' }] });
    await watch.pass(10);
    await watch.edit({ destinations: [{ ...broker, url: 'mqtt://user:two@broker.example' }] });
    await watch.pass(10);
    expect(watch.sent.filter(({ isRemoval }) => isRemoval)).toEqual([]);
    await watch.edit({ destinations: [] });
    await watch.pass(10);
    expect(watch.sent.filter(({ isRemoval }) => isRemoval)).toMatchObject([
      { url: 'mqtt://user:two@broker.example' },
    ]);
  });

  test('a destination stays the same in a change after a rotation of the webhook secret: disabled, without an end', async () => {
    const watch = await begin([team, duty], ({ url, type }) =>
      url === old && type === 'watch_changed' ? { status: 410, outcome: 'gone' } : {},
    );
    await watch.tick(true);
    await watch.pass(10);
    await rotateWebhookSecret('alice', 0, world.c);
    expect(await watch.edit({ name: 'Gate, north' })).toBeUndefined();
    watch.take();
    await watch.tick(false);
    await watch.pass(10);
    expect(watch.take().filter((each) => each.startsWith(old))).toEqual([]);
    const states = await world.c.deliveries.states({ run: 'watch', run_id: watch.watchId });
    expect(states.filter(({ disabled }) => disabled).map(({ destination_id: id }) => id)).toEqual(['team']);
  });
});
