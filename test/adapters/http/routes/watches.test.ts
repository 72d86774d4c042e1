import { beforeEach, describe, expect, test } from 'vitest';
import { NotLiveError } from '../../../../core/errors.ts';
import { createWebhookGuard } from '../../../../adapters/egress/guard.ts';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { destinationTypeSchema } from '../../../../core/records/watch.ts';
import { openAlert } from '../../../support/watches/watch-alerts.ts';
import { createWorld, type World } from '../../../support/world.ts';
import { judgingEach } from '../../../support/scripted-model.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;

beforeEach(async () => {
  world = createWorld({ watchesPerCaller: 3 });
  call = await createHttpCaller(world);
});

const slack = { destination_id: 'team', type: 'slack', url: 'https://hooks.slack.example/T1/secret' };
const request = {
  name: 'Gate',
  stream_url: 'rtsp://user:secret@camera.example/1',
  conditions: [{ condition: 'A person is at the gate' }, { condition: 'The gate is open' }],
  destinations: [slack],
  labels: ['yard'],
};
const create = (fields = {}, headers = {}) => call('POST', '/watches', { ...request, ...fields }, headers);

const startedAs = async (id: string, generation: number) =>
  world.c.executions.status({ run_id: id, generation });

describe('POST /watches', () => {
  test('clips of a stream of single pictures are rejected: at the creation, in a preview and by a change', async () => {
    const { body: watch } = await create({ input_mode: 'clip' });
    world.c.streams.probe = async (url) => ({ platform: 'jpeg', playbackUrl: url, framesOnly: true });
    const rejected = { status: 400, body: { error: { code: 'INVALID_INPUT_MODE' } } };
    expect(await create({ input_mode: 'hybrid' })).toMatchObject(rejected);
    const preview = { ...request, input_mode: 'clip' };
    expect(await call('POST', '/watches/preview', preview)).toMatchObject(rejected);
    const { body: pictures } = await create();
    const change = (id: string, fields: object) => call('PATCH', `/watches/${id}`, fields);
    expect(await change(pictures.watch_id, { input_mode: 'clip' })).toMatchObject(rejected);
    expect(await change(watch.watch_id, { stream_url: 'http://camera.example/a.jpg' })).toMatchObject(
      rejected,
    );
    expect((await change(watch.watch_id, { input_mode: 'frames' })).status).toBe(200);
  });

  test('an address that is not allowed is named by its place among the destinations', async () => {
    world.c.webhookUrls = createWebhookGuard([]);
    const own = { destination_id: 'own', type: 'webhook', url: 'http://10.0.0.4/hook' };
    const { body } = await create({ destinations: [slack, own] });
    expect(body.error).toMatchObject({
      code: 'INVALID_URL',
      remediation: expect.stringMatching(/^destinations\[1\]\.url: .*10\.0\.0\.4\/32/),
    });
  });

  test('no response and no log line has a secret of the stream or of a destination', async () => {
    const { body } = await create();
    const list = await call('GET', '/watches');
    const events = await call('GET', `/watches/${body.watch_id}/events`);
    const shown = JSON.stringify([body, list.body, events.body, await world.c.recentLog.entries()]);
    expect(shown).not.toContain('secret');
    expect(body.destinations[0]).toMatchObject({ url_masked: 'https://hooks.slack.example/***' });
    expect(body.destinations[0].fingerprint).toMatch(/^[0-9a-f]{16}$/);
  });

  test('equal addresses have equal fingerprints, and other callers have others', async () => {
    const other = await createHttpCaller(world, 'canal');
    const print = (body: { destinations: { fingerprint: string }[] }) => body.destinations[0]!.fingerprint;
    const [first, second] = [await create(), await create()];
    const foreign = await other('POST', '/watches', request);
    expect(print(first.body)).toBe(print(second.body));
    expect(print(first.body)).not.toBe(print(foreign.body));
  });

  test('a recipient that the operator does not allow creates nothing, also by a change', async () => {
    const email = { type: 'email', to: 'nobody@example.com' };
    const refused = await create({ destinations: [slack, email] });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([
      {
        loc: ['body', 'destinations', 1, 'to'],
        msg: 'The operator does not allow this recipient',
      },
    ]);
    const { body } = await create();
    const changed = await call('PATCH', `/watches/${body.watch_id}`, { destinations: [email] });
    expect(changed.body.detail).toMatchObject([{ loc: ['body', 'destinations', 0, 'to'] }]);
    expect((await call('GET', '/watches')).body.total).toBe(1);
  });

  test('a budget in dollars needs a model with a known price', async () => {
    world.c.modelPrice = null;
    const { status, body } = await create({ budget: { usd_per_day: 2 } });
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([{ loc: ['body', 'budget', 'usd_per_day'] }]);
    expect((await create({ budget: { model_calls_per_day: 100 } })).status).toBe(200);
  });

  test('a host that only captures follows no stream, and says so', async () => {
    const { status, body } = await create({ follow: true });
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([
      {
        loc: ['body', 'follow'],
        msg: 'this service reads streams in its checks only; follow needs the service on one machine',
      },
    ]);
    world.c.limits.wakesOnMotion = true;
    expect((await create({ follow: true })).body).toMatchObject({ follow: true });
  });

  test('a caller over the limit gets 429 with its code, and a deletion makes room', async () => {
    const [first] = [await create(), await create(), await create()];
    const { status, body } = await create();
    expect(status).toBe(429);
    expect(body.error.code).toBe('MAX_WATCHES_REACHED');
    await call('DELETE', `/watches/${first.body.watch_id}`);
    expect((await create()).status).toBe(200);
  });

  test('a stream that is not live and a body outside of its limits create nothing', async () => {
    world.script.probe = new NotLiveError('Give a live one.');
    expect((await create()).body.error.code).toBe('NOT_LIVESTREAM');
    const { status, body } = await create({ conditions: [{ condition: 'x', checks_to_open: 4 }] });
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(['body', 'conditions', 0, 'checks_to_open']);
    expect((await call('GET', '/watches')).body.total).toBe(0);
  });
});

describe('GET /watches', () => {
  test('the list has own watches only, filtered by status and label, in pages', async () => {
    const { body: first } = await create();
    await create({ labels: ['street'] });
    const other = await createHttpCaller(world, 'canal');
    const names = async (query: string) => (await call('GET', `/watches${query}`)).body;
    expect(await names('')).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect((await names('?label=yard')).watches[0].watch_id).toBe(first.watch_id);
    expect((await names('?status=paused')).total).toBe(0);
    expect((await names('?limit=1&offset=1')).watches).toHaveLength(1);
    expect((await other('GET', '/watches')).body.total).toBe(0);
    expect((await other('GET', `/watches/${first.watch_id}`)).body.error.code).toBe('WATCH_NOT_FOUND');
  });
});

describe('PATCH /watches/{watch_id}', () => {
  const patch = (id: string, body: object, headers = {}) => call('PATCH', `/watches/${id}`, body, headers);

  test('a masked or omitted address is unchanged, and a new one replaces it', async () => {
    const { body: before } = await create();
    const id = before.watch_id;
    const address = async () => (await world.c.watches.secrets(id))?.destinations[0]?.url;
    const { destination_id, type, url_masked: url } = before.destinations[0];
    await patch(id, { destinations: [{ destination_id, type, url }] });
    expect(await address()).toBe(slack.url);
    await patch(id, { destinations: [{ destination_id, type }] });
    expect(await address()).toBe(slack.url);
    await patch(id, { destinations: [{ destination_id, type, url: 'https://other.example/x' }] });
    expect(await address()).toBe('https://other.example/x');
  });

  test.each(destinationTypeSchema.options)(
    'no secret of a %s destination outlives its changed address',
    async (type) => {
      world.c.destinations = { ...world.c.destinations, reasonToRefuse: () => null };
      const scheme = type === 'mqtt' ? 'mqtt' : 'https';
      const bot = { token: `123456:old${'o'.repeat(32)}`, to: '@old_chat' };
      const person = { token: 'old-token', to: 'old@example.com' };
      const secrets = { routing_key: 'old-routing-key', ...(type === 'telegram' ? bot : person) };
      const old = { destination_id: 'team', type, url: `${scheme}://home:old@a.example/old`, ...secrets };
      const { body: before } = await create({ destinations: [old] });
      const elsewhere = { url: `${scheme}://b.example/` };
      for (const change of [
        elsewhere,
        { ...elsewhere, routing_key: before.destinations[0].url_masked },
        ...(type === 'email' ? [{ to: 'new@example.com' }] : []),
        ...(type === 'telegram' ? [{ to: '@new_chat' }] : []),
      ]) {
        const { status } = await patch(before.watch_id, {
          destinations: [{ destination_id: 'team', type, ...change }],
        });
        const [after] = (await world.c.watches.secrets(before.watch_id))?.destinations ?? [];
        const isSent = after?.url === elsewhere.url || after?.to === 'new@example.com';
        if (status === 200 && isSent) expect(JSON.stringify(after)).not.toContain('old');
        if (status !== 200) expect(after).toEqual(old);
        await patch(before.watch_id, { destinations: [old] });
      }
    },
  );

  test('another chat of Telegram keeps the server of its bot, unless the change names one', async () => {
    world.c.destinations = { ...world.c.destinations, reasonToRefuse: () => null };
    const token = `123456:${'n'.repeat(32)}`;
    const bot = { destination_id: 'team', type: 'telegram', url: 'https://bots.example/', token, to: '@one' };
    const { body } = await create({ destinations: [bot] });
    const change = async (part: object) => {
      const next = { destination_id: 'team', type: 'telegram', token, ...part };
      expect((await patch(body.watch_id, { destinations: [next] })).status).toBe(200);
      return (await world.c.watches.secrets(body.watch_id))?.destinations[0];
    };
    expect(await change({ to: '@two' })).toMatchObject({ to: '@two', url: bot.url });
    expect(await change({ to: '@three', url: 'https://b.example/' })).toMatchObject({
      url: 'https://b.example/',
    });
  });

  test('a rotated webhook secret changes no fingerprint of an address that stays, so that a disabled destination stays disabled', async () => {
    const { body: before } = await create();
    world.c.signer = { ...world.c.signer, secret: async () => 'whsec_rotated' };
    const { body: after } = await patch(before.watch_id, { name: 'North' });
    expect(after.name).toBe('North');
    expect(after.stream_fingerprint).toBe(before.stream_fingerprint);
    expect(after.destinations[0].fingerprint).toBe(before.destinations[0].fingerprint);
    const { body: moved } = await patch(before.watch_id, {
      destinations: [{ ...slack, url: `${slack.url}2` }],
    });
    expect(moved.destinations[0].fingerprint).not.toBe(before.destinations[0].fingerprint);
  });

  test('the masked stream URL keeps the stored one with its password', async () => {
    const { body: before } = await create();
    await patch(before.watch_id, { stream_url: before.stream_url, name: 'North' });
    const stored = await world.c.watches.get(before.watch_id, new Date(0));
    expect((await world.c.jobs.source(stored!.source_id))?.url).toBe(request.stream_url);
  });

  test('null restores a default, and a merged value is validated as a whole', async () => {
    const { body: before } = await create({ retention_days: 30, budget: { model_calls_per_day: 5 } });
    const { body } = await patch(before.watch_id, { retention_days: null, budget: null });
    expect(body).toMatchObject({ retention_days: 7, budget: null });
    const invalid = await patch(before.watch_id, { confirm_seconds: 60 });
    expect(invalid.status).toBe(422);
    expect(invalid.body.detail[0].loc).toEqual(['body', 'confirm_seconds']);
  });

  test('a changed text closes the alert of its condition, and other conditions keep theirs', async () => {
    const { body: before } = await create();
    const alertId = await openAlert(world, before.watch_id);
    const [first, second] = before.conditions;
    await patch(before.watch_id, { conditions: [first, { ...second, condition: 'The gate is shut' }] });
    expect((await call('GET', `/alerts/${alertId}`)).body.state).toBe('open');
    await patch(before.watch_id, { conditions: [{ ...first, condition: 'A dog is here' }, second] });
    const { body } = await call('GET', `/alerts/${alertId}`);
    expect(body).toMatchObject({ state: 'closed', closed: { reason: 'changed' } });
  });
});

describe('state of a watch', () => {
  test('a pause closes alerts, and a resumption starts the next generation', async () => {
    const { body: watch } = await create();
    const path = `/watches/${watch.watch_id}`;
    const alertId = await openAlert(world, watch.watch_id);
    expect((await call('POST', `${path}/pause`)).body).toMatchObject({ status: 'paused' });
    expect((await call('POST', `${path}/pause`)).body).toMatchObject({ status: 'paused' });
    expect((await call('GET', `/alerts/${alertId}`)).body.closed.reason).toBe('paused');
    expect((await call('POST', `${path}/resume`)).body).toMatchObject({ status: 'active' });
    expect(await startedAs(watch.watch_id, 2)).toBe('running');
    const { events } = (await call('GET', `${path}/events`)).body;
    const names = events.map(({ type, data }: any) => data.reason ?? type);
    expect(names).toEqual(['created', 'alert_opened', 'paused', 'paused', 'resumed']);
  });

  test('a snooze applies to one condition or to all, and an unknown one is rejected', async () => {
    const { body: watch } = await create();
    const snooze = (body: object) => call('POST', `/watches/${watch.watch_id}/snooze`, body);
    const until = (body: any) => body.state.conditions.map((each: any) => each.snoozed_until !== null);
    const one = await snooze({ seconds: 60, condition_id: 'the-gate-is-open' });
    expect(until(one.body)).toEqual([false, true]);
    expect(until((await snooze({ seconds: 60 })).body)).toEqual([true, true]);
    expect(until((await snooze({ seconds: 0 })).body)).toEqual([false, false]);
    expect((await snooze({ seconds: 60, condition_id: 'other' })).status).toBe(422);
  });

  test('a deleted watch is 404 with its log, its evidence is erased, and its closing stays in the log for deliveries', async () => {
    const { body: watch } = await create();
    await openAlert(world, watch.watch_id);
    expect((await call('DELETE', `/watches/${watch.watch_id}`)).status).toBe(200);
    for (const path of ['', '/events', '/stats', '/frame'])
      expect((await call('GET', `/watches/${watch.watch_id}${path}`)).status).toBe(404);
    expect([...world.pictures.keys()].filter((key) => key.startsWith('evidence/'))).toEqual([]);
    const events = await world.c.watches.events(watch.watch_id, 0, 10, world.c.now());
    expect(events.slice(-2)).toMatchObject([
      { type: 'alert_closed', data: { reason: 'deleted' } },
      { type: 'watch_changed', data: { reason: 'deleted' } },
    ]);
  });

  test('a preview has the boxes of each condition, and captures in the requested mode', async () => {
    const { body: watch } = await create({ input_mode: 'clip' });
    const boxes = [{ label: 'person', score: 0.7, x: 0.1, y: 0.2, width: 0.3, height: 0.4 }];
    const [first = '', second = ''] = watch.conditions.map(({ condition }: any) => condition);
    world.c.vision.judge = judgingEach(async (media, condition) => ({
      triggered: condition === first,
      explanation: media.mode,
      tokens: { input_tokens: 0, output_tokens: 0 },
      ...(condition === first ? { boxes, shown_at_seconds: 1.5 } : { judged: false }),
    }));
    const preview = async (query: string) =>
      (await call('POST', `/watches/${watch.watch_id}/preview${query}`)).body.verdicts;
    const both = [
      { condition: first, triggered: true, explanation: 'clip', boxes, shown_at_seconds: 1.5 },
      { condition: second, triggered: false, explanation: 'clip', judged: false },
    ];
    expect(await preview('')).toMatchObject(both);
    expect((await preview('?input_mode=frames'))[1]).toMatchObject({ explanation: 'frames' });
  });

  test('a preview checks all conditions and changes nothing', async () => {
    const { body: watch } = await create();
    world.script.verdicts.push(true, false);
    const { body } = await call('POST', `/watches/${watch.watch_id}/preview`);
    expect(body.verdicts.map(({ triggered }: any) => triggered)).toEqual([true, false]);
    expect((await call('GET', `/watches/${watch.watch_id}`)).body).toEqual(watch);
    world.script.verdicts.push(false, true);
    const before = await call('POST', '/watches/preview', request);
    expect(before.body.verdicts.map(({ triggered }: any) => triggered)).toEqual([false, true]);
    const [condition] = request.conditions;
    const timed = { ...request, conditions: [{ ...condition, condition: 'A person is there at night.' }] };
    const { body: preview } = await call('POST', '/watches/preview', timed);
    expect(preview.verdicts[0].findings).toMatchObject([{ code: 'time_of_day' }]);
  });
});

describe('alerts', () => {
  test('alerts are listed over all watches, newest first, in pages', async () => {
    const [one, two] = [await create(), await create()];
    const first = await openAlert(world, one.body.watch_id);
    world.advance(10);
    const second = await openAlert(world, two.body.watch_id);
    const { body: page } = await call('GET', '/alerts?limit=1');
    expect(page.alerts[0].alert_id).toBe(second);
    const { body: rest } = await call('GET', `/alerts?limit=1&after=${page.next_after}`);
    expect(rest).toMatchObject({ alerts: [{ alert_id: first, state: 'open' }], next_after: null });
    const filtered = await call('GET', `/alerts?watch_id=${one.body.watch_id}&state=open`);
    expect(filtered.body.alerts).toHaveLength(1);
    const other = await createHttpCaller(world, 'canal');
    expect((await other('GET', '/alerts')).body.alerts).toEqual([]);
    expect((await other('GET', `/alerts/${first}`)).body.error.code).toBe('ALERT_NOT_FOUND');
  });

  test('alerts of a span that ends before it begins are refused', async () => {
    const { status, body } = await call('GET', '/alerts?from=2026-11-27T00:00:00Z&to=2026-11-20T00:00:00Z');
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    const instant = await call('GET', '/alerts?from=2026-11-27T00:00:00Z&to=2026-11-27T00:00:00Z');
    expect(instant.status).toBe(200);
  });

  test('an acknowledgement is stored with its key and logged once', async () => {
    const { body: watch } = await create();
    const alertId = await openAlert(world, watch.watch_id);
    const { body } = await call('POST', `/alerts/${alertId}/acknowledge`);
    expect(body.acknowledged.by).toMatch(/^wp_/);
    await call('POST', `/alerts/${alertId}/acknowledge`);
    const { events } = (await call('GET', `/watches/${watch.watch_id}/events`)).body;
    expect(events.filter(({ type }: any) => type === 'alert_acknowledged')).toHaveLength(1);
  });

  test('reviews give the precision of a condition with its interval', async () => {
    const { body: watch } = await create();
    const alertId = await openAlert(world, watch.watch_id);
    const reviewed = await call('POST', `/alerts/${alertId}/review`, { correct: false, note: 'A cat' });
    expect(reviewed.body.review).toMatchObject({ correct: false, note: 'A cat' });
    await call('POST', `/alerts/${alertId}/review`, { correct: true });
    const { body } = await call('GET', `/watches/${watch.watch_id}/stats`);
    expect(body.total).toMatchObject({ checks: 3, coverage: 0.9 });
    expect(body.precision[0]).toMatchObject({ reviewed: 1, correct: 1, precision: 1 });
    expect(body.precision[0].interval.from).toBeCloseTo(0.2065, 3);
    expect(body.weeks).toHaveLength(1);
  });
});
