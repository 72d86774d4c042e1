import { expect, test, vi } from 'vitest';
import { VisionError } from '../../../core/vision-errors.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { forgeCursor } from '../../support/api/forge-cursor.ts';
import { readMomentId } from '../../../core/records/moment.ts';
import { watchFilm } from './film.ts';

const vans = { conditions: [{ condition: 'A van is there', condition_id: 'van' }] };

async function film(fields: object = {}) {
  const made = await watchFilm(7, { fields: { interval_seconds: 10, ...fields } });
  const price = { input: 0.000_000_06, output: 0.000_000_24 };
  made.world.c.modelPrice = { ...price, pictureTokens: 900, videoTokensPerSecond: null };
  const post = async (body: object) =>
    made.call('POST', `/watches/${made.watchId}/backtest`, { ...vans, ...body });
  return { ...made, post };
}

test('another condition is judged on the stored pictures, and costs what the estimate says', async () => {
  const { post, backtest, calls, live, watchId } = await film();
  const { body: estimated } = await post({ estimate: true });
  expect(estimated).toMatchObject({ alerts: [], model_calls: 0, next_cursor: null });
  expect(estimated.sentence).toMatch(/^\d+ moments to play with \d+ model calls\. /);
  expect(calls).toEqual([]);
  const { alerts, result } = await backtest(vans);
  expect(alerts.length).toBeGreaterThan(0);
  expect(alerts.length).toBeLessThan(live.length);
  expect(live.map(({ opened_at: at }) => at)).toEqual(
    expect.arrayContaining(alerts.map(({ opened_at: at }) => at)),
  );
  expect(alerts[0]).toMatchObject({
    condition_id: 'van',
    condition: 'A van is there',
    picture_url: expect.stringContaining(`/moments/${watchId}`),
  });
  expect(result.model_calls).toBe(calls.length);
  const { model_calls: planned, cost_usd: price } = estimated.estimate;
  expect(Math.abs(planned / result.model_calls - 1)).toBeLessThan(0.2);
  expect(Math.abs(price / result.cost_usd - 1)).toBeLessThan(0.2);
});

test('a backtest that is continued by its cursor ends with the same alerts, and bills nothing twice', async () => {
  const { post, backtest, calls } = await film();
  const whole = await backtest(vans);
  const all = calls.splice(0).length;
  const alerts: unknown[] = [];
  let cursor: string | undefined;
  for (let maxCalls = 5; ; maxCalls += 7) {
    const { status, body } = await post({ max_calls: maxCalls, cursor });
    expect(status).toBe(200);
    alerts.push(...body.alerts);
    if (body.next_cursor === null) break;
    expect(body).toMatchObject({ stopped: 'calls', model_calls: maxCalls });
    cursor = body.next_cursor;
  }
  expect(alerts).toEqual(whole.alerts);
  expect(calls).toHaveLength(all);
});

test('a model that fails in the middle ends the response, and the next one continues with its capture', async () => {
  const { post, backtest, calls, world } = await film();
  const whole = await backtest(vans);
  const all = calls.splice(0).length;
  const { judge } = world.c.vision;
  let made = 0;
  world.c.vision.judge = async (...given) => {
    made += 1;
    if (made === 10) throw new VisionError('The model is away.');
    return judge(...given);
  };
  const first = await post({});
  expect(first.body).toMatchObject({ stopped: 'model', next_cursor: expect.any(String) });
  const rest = await post({ cursor: first.body.next_cursor });
  expect([...first.body.alerts, ...rest.body.alerts]).toEqual(whole.alerts);
  expect(calls).toHaveLength(all);
  made = 9;
  expect((await post({})).body.error).toMatchObject({ code: 'VLM_ERROR', remediation: 'The model is away.' });
});

test('a cursor belongs to its caller, watch, conditions and the configuration of the watch', async () => {
  const { post, call, watchId, world } = await film();
  const { next_cursor: cursor } = (await post({ max_calls: 1 })).body;
  const refused = async (body: object) => (await post({ cursor, ...body })).body.error?.code;
  expect(await refused({ conditions: [{ condition: 'A cat is there' }] })).toBe('BAD_REQUEST');
  expect(await refused({ from: '2026-03-01T12:10:00Z' })).toBe('BAD_REQUEST');
  expect(await refused({ cursor: 'abc' })).toBe('BAD_REQUEST');
  const other = await createHttpCaller(world, 'other');
  const theirs = await other('POST', `/watches/${watchId}/backtest`, { ...vans, cursor });
  expect(theirs.body.error.code).toBe('WATCH_NOT_FOUND');
  expect(await refused({})).toBeUndefined();
  await call('PATCH', `/watches/${watchId}`, { interval_seconds: 20 });
  expect(await refused({})).toBe('BAD_REQUEST');
});

test('a cursor that somebody has changed is refused before anything is read', async () => {
  const { post, world } = await film();
  const { next_cursor: cursor } = (await post({ max_calls: 1 })).body;
  const { watches } = world.c;
  const reads = vi.spyOn(watches, 'hours');
  const forty = Date.parse('2066-03-01T12:00:00Z');
  for (const values of [{ to: forty }, { to: 9e15 }, { after: { at: 0, id: '' } }, { from: 0 }]) {
    const { status, body } = await post({ cursor: forgeCursor(cursor, values), max_calls: 1 });
    expect([status, body.error?.code]).toEqual([400, 'BAD_REQUEST']);
  }
  expect(reads).not.toHaveBeenCalled();
  expect((await post({ cursor: forgeCursor(cursor, {}), max_calls: 1 })).status).toBe(200);
});

test('a backtest of a time without moments ends with its time', async () => {
  const { post, world, watchId, call } = await film();
  await call('PATCH', `/watches/${watchId}`, { memory_days: 90 });
  world.clock.now = new Date(world.clock.now.getTime() + 80 * 86_400_000);
  const hours = world.c.watches.hours.bind(world.c.watches);
  const reads = vi.spyOn(world.c.watches, 'hours').mockImplementation(async (...given) => {
    world.clock.now = new Date(world.clock.now.getTime() + 2000);
    return hours(...given);
  });
  const { body } = await post({ from: '2026-04-01T00:00:00Z' });
  expect(body).toMatchObject({ stopped: 'time', next_cursor: expect.any(String) });
  expect(reads.mock.calls.length).toBeLessThan(20);
});

test('a watch that is deleted during its backtest has no answer', async () => {
  const { post, call, watchId, world } = await film();
  const { judge } = world.c.vision;
  world.c.vision.judge = async (...given) => {
    await call('DELETE', `/watches/${watchId}`);
    return judge(...given);
  };
  expect((await post({})).body.error.code).toBe('WATCH_NOT_FOUND');
});

test('a caller that is erased during a backtest has no answer, and nothing of it is read afterwards', async () => {
  const { post, world } = await film();
  const admin = await createHttpCaller(world, 'operator', ['admin']);
  const { judge } = world.c.vision;
  let made = 0;
  world.c.vision.judge = async (...given) => {
    made += 1;
    if (made === 3) expect((await admin('DELETE', '/callers/harbour')).status).toBe(200);
    return judge(...given);
  };
  const { status, body } = await post({});
  expect([status, body.error.code]).toEqual([404, 'WATCH_NOT_FOUND']);
  expect(made).toBe(3);
});

test('a condition that is changed during a backtest is not played, and its cursor needs a new backtest', async () => {
  const { post, call, watchId, world } = await film();
  const { judge } = world.c.vision;
  const whole = await post({ conditions: undefined });
  let made = 0;
  world.c.vision.judge = async (...given) => {
    made += 1;
    if (made === 3) await call('PATCH', `/watches/${watchId}`, { conditions: [{ condition: 'A dog' }] });
    return judge(...given);
  };
  const { status, body } = await post({ max_calls: 5 });
  expect([status, body.stopped]).toEqual([200, 'calls']);
  expect(body.alerts.every(({ condition }: { condition: string }) => condition === 'A van is there')).toBe(
    true,
  );
  expect(whole.body.model_calls).toBe(0);
  const again = await post({ conditions: undefined, max_calls: 1, cursor: body.next_cursor });
  expect(again.body.error).toMatchObject({
    code: 'BAD_REQUEST',
    remediation: expect.stringContaining('A changed watch needs a new backtest'),
  });
});

test('a capture whose newest frame lies behind the end is left out, with its earlier moments', async () => {
  const { post, world, watchId } = await film();
  const watches = [{ watchId, from: new Date(0) }];
  const listed = await world.c.moments.list(
    { caller: 'harbour', watches, to: world.clock.now, limit: 500 },
    world.clock.now,
  );
  const captureAt = (id: string) => Number(readMomentId(id)?.captureAt);
  const early = listed.moments.findLast(({ at, moment_id: id }) => captureAt(id) > Date.parse(at));
  const to = new Date(Date.parse(early!.at) + 1);
  const { body } = await post({ to: to.toISOString() });
  const before = listed.moments.filter(({ moment_id: id }) => captureAt(id) < to.getTime());
  expect(body.moments).toBe(before.length);
  expect(before).not.toContain(early);
});

test('a changed text is judged again, and verdicts on the former one are not used', async () => {
  const { call, watchId, backtest, calls } = await film();
  await call('PATCH', `/watches/${watchId}`, {
    conditions: [{ condition: 'A van is there', condition_id: 'visitor' }],
  });
  const { alerts } = await backtest();
  expect(calls.length).toBeGreaterThan(0);
  expect(alerts).toEqual(
    (await backtest(vans)).alerts.map((alert) => ({ ...alert, condition_id: 'visitor' })),
  );
});

test('an opening that lacked only a confirming picture is possible', async () => {
  const fields = { enable_prefilter: false, look_back: false, interval_seconds: 30, confirm_seconds: 2 };
  const condition = { condition: 'Nobody knows', condition_id: 'nothing', checks_to_open: 1 };
  const { backtest, world } = await film({ ...fields, conditions: [condition] });
  world.c.vision.judge = async (media, questions) => ({
    moments: [
      questions.map(({ condition_id }) => ({
        condition_id,
        triggered: JSON.parse(Buffer.from(media.frame).toString()).length > 0,
        explanation: 'It is there.',
      })),
    ],
    tokens: { input_tokens: 1, output_tokens: 1 },
  });
  const two = { condition: 'Somebody is there', condition_id: 'visitor', checks_to_open: 2 };
  const tried = { conditions: [{ ...two, checks_considered: 2 }] };
  const { alerts, possible } = await backtest(tried);
  expect(possible.length).toBeGreaterThan(0);
  expect(possible[0]).toMatchObject({ closed_at: null, picture_url: expect.any(String) });
  const opened = new Set(alerts.map(({ opened_at: at }) => at));
  expect(possible.filter(({ opened_at: at }) => opened.has(at))).toEqual([]);
});

test('a backtest of an unknown watch, an empty span or no memory is a clear answer', async () => {
  const { post, call } = await film();
  const empty = await post({ from: '2026-03-01T13:00:00Z', to: '2026-03-01T12:00:00Z' });
  expect(empty.body.error.code).toBe('BAD_REQUEST');
  const century = await post({ from: '1926-03-01T12:00:00Z', to: '1927-03-01T12:00:00Z' });
  expect(century.body).toMatchObject({ alerts: [], moments: 0, next_cursor: null });
  expect((await call('POST', `/watches/${crypto.randomUUID()}/backtest`, {})).status).toBe(404);
});
