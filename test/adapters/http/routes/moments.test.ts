import { beforeEach, describe, expect, test } from 'vitest';
import { StreamFetchError } from '../../../../core/errors.ts';
import { toMomentId, type Moment } from '../../../../core/records/moment.ts';
import { addSeconds } from '../../../../core/time.ts';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
let watchId: string;

beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
  watchId = await createWatch();
});

async function createWatch(fields = {}): Promise<string> {
  const condition = { condition: 'A person is at the gate', condition_id: 'person' };
  const stream = 'https://camera.example/live.m3u8';
  const request = { name: 'Gate', stream_url: stream, conditions: [condition], memory_days: 3, ...fields };
  return (await call('POST', '/watches', request)).body.watch_id;
}

/** Runs checks of a watch whose model finds a person in some. */
async function check(verdicts: readonly boolean[], id = watchId): Promise<void> {
  let step = await world.begin({ run_id: id, generation: 0 });
  for (const verdict of verdicts) {
    world.script.verdicts.push(verdict);
    step = await world.tick(step);
  }
}

const list = async (query = '') => (await call('GET', `/moments${query}`)).body;
const idsOf = ({ moments }: { moments: { moment_id: string }[] }) => moments.map(({ moment_id: id }) => id);

describe('GET /moments', () => {
  test('moments of a caller are listed newest first, with what was seen', async () => {
    const begin = world.clock.now;
    await check([false, true, false]);
    const { moments, next_after: next, watched, pictures_kept_from: kept } = await list();
    expect(moments).toMatchObject([
      { watch_id: watchId, verdicts: [{ condition_id: 'person', triggered: false }] },
      { verdicts: [{ triggered: true, explanation: 'It is there.' }] },
      { verdicts: [{ triggered: false }], judged_by: 'scripted' },
    ]);
    expect(moments[0]).not.toHaveProperty('caller');
    expect(moments[0]).not.toHaveProperty('frame_key');
    expect([next, kept]).toEqual([null, null]);
    const { judged_seconds: judged, quiet_seconds: quiet, between_seconds: between } = watched;
    expect(judged + quiet + between + watched.not_seen_seconds).toBeCloseTo(
      (Date.parse(moments[0].at) - begin.getTime()) / 1000,
      1,
    );
    expect(watched).toMatchObject({ gaps: [], coverage: 1, sure_from_seconds: expect.any(Number) });
  });

  test('pages follow each other, and only the first says what was seen', async () => {
    await check([false, true, false]);
    const all = idsOf(await list());
    const first = await list('?limit=2');
    const second = await list(`?limit=2&after=${first.next_after}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(all);
    expect(second).toMatchObject({ next_after: null, watched: null });
  });

  test('filters select a watch, a condition, a verdict and a span', async () => {
    await check([false, true, false]);
    await check([false], await createWatch({ name: 'Yard' }));
    const [newest, held, oldest] = (await list(`?watch_id=${watchId}`)).moments;
    expect(idsOf(await list('?verdict=held'))).toEqual([held.moment_id]);
    expect(idsOf(await list('?condition_id=person&verdict=held'))).toEqual([held.moment_id]);
    expect((await list('?condition_id=car')).moments).toEqual([]);
    expect((await list('?verdict=not_judged')).moments).toEqual([]);
    const span = `from=${held.at}&to=${newest.at}`;
    expect(idsOf(await list(`?watch_id=${watchId}&${span}`))).toEqual([held.moment_id]);
    expect(idsOf(await list(`?watch_id=${watchId}&to=${held.at}`))).toEqual([oldest.moment_id]);
  });

  test('an outage is a gap with its reason and its time', async () => {
    let step = await world.begin({ run_id: watchId, generation: 0 });
    step = await world.tick(step);
    const { capture } = world.c.streams;
    world.c.streams.capture = () => Promise.reject(new StreamFetchError('down'));
    for (let tick = 0; tick < 4; tick += 1) step = await world.tick(step);
    world.c.streams.capture = capture;
    await world.tick(step);
    const { watched } = await list();
    expect(watched.gaps).toHaveLength(1);
    const [gap] = watched.gaps;
    expect(gap).toMatchObject({ watch_id: watchId, reason: 'stream' });
    expect((Date.parse(gap.to) - Date.parse(gap.from)) / 1000).toBeCloseTo(watched.not_seen_seconds, 1);
    expect(watched.coverage).toBeLessThan(1);
  });

  test('a span of a century is read within the memory', async () => {
    await check([false]);
    const { moments, watched } = await list('?from=1970-01-01T00:00:00Z&to=2099-01-01T00:00:00Z');
    expect(moments).toHaveLength(1);
    expect(Date.parse(watched.to) - Date.parse(watched.from)).toBeLessThan(4 * 86_400_000);
  });

  test('an end before the begin, a foreign watch and an unknown cursor are rejected', async () => {
    const span = '?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z';
    expect((await call('GET', `/moments${span}`)).body).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    const other = await createHttpCaller(world, 'canal');
    expect((await other('GET', `/moments?watch_id=${watchId}`)).body).toMatchObject({
      error: { code: 'WATCH_NOT_FOUND' },
    });
    for (const after of ['x', `${watchId}-1`])
      expect((await call('GET', `/moments?after=${after}`)).status).toBe(422);
  });

  test('a watch without memory has no moments', async () => {
    await check([true], await createWatch({ memory_days: 0 }));
    expect((await list()).moments).toEqual([]);
  });

  test('fewer days hide what the store has not removed yet', async () => {
    await check([false]);
    world.c.moments.remove = async () => ({ keys: [], more: false });
    const [moment]: Moment[] = (await list()).moments;
    world.advance(2 * 86_400);
    await call('PATCH', `/watches/${watchId}`, { memory_days: 1 });
    expect((await list()).moments).toEqual([]);
    expect((await call('GET', `/moments/${moment?.moment_id}`)).status).toBe(404);
  });
});

describe('GET /moments/{moment_id}', () => {
  test('a moment that has expired, was never stored, or has no picture is not found', async () => {
    await check([true]);
    const [moment] = (await list()).moments;
    world.pictures.clear();
    expect((await call('GET', `/moments/${moment.moment_id}/picture`)).status).toBe(404);
    world.advance(3 * 86_400 + 1);
    expect((await call('GET', `/moments/${moment.moment_id}`)).status).toBe(404);
    const at = addSeconds(world.clock.now, -1);
    const absent = toMomentId({ watchId, captureAt: at, tick: 9, at });
    for (const id of [absent, 'x', '%00']) expect((await call('GET', `/moments/${id}`)).status).toBe(404);
  });
});

describe('POST /moments/{moment_id}/review', () => {
  const review = async (id: string, body: object) =>
    call('POST', `/moments/${id}/review`, { condition_id: 'person', ...body });
  const precision = async () => (await call('GET', `/watches/${watchId}/stats`)).body.precision[0];

  test('a miss lowers the recall in the statistics, with its interval, until it is taken back', async () => {
    await check([false, true, true, false]);
    const { moments } = await list();
    const [missed] = moments;
    const { alerts } = (await call('GET', '/alerts')).body;
    await call('POST', `/alerts/${alerts[0].alert_id}/review`, { correct: true });
    expect(await precision()).toMatchObject({ missed: 0, recall: null, recall_interval: null });
    // Before the alert had opened.
    const before = moments.at(-1).moment_id;
    const answer = await review(before, { holds: true });
    expect(answer.body).toMatchObject({
      moment_id: before,
      reviews: [{ condition_id: 'person', condition: 'A person is at the gate', holds: true, missed: true }],
    });
    await review(before, { holds: true });
    expect(await precision()).toMatchObject({ missed: 1, recall: 0.5, recall_interval: expect.anything() });
    expect((await list('?reviewed=true')).moments).toHaveLength(1);
    await review(before, { holds: false });
    expect(await precision()).toMatchObject({ missed: 0, recall: null });
    // The alert was open: it was not missed.
    expect((await review(missed.moment_id, { holds: true })).body.reviews[0].missed).toBe(false);
    expect(await precision()).toMatchObject({ missed: 0 });
  });

  test('a review goes with its moment, and the number of misses stays', async () => {
    await check([false]);
    const [id = ''] = idsOf(await list());
    await review(id, { holds: true });
    world.clock.now = addSeconds(world.clock.now, 4 * 86_400);
    expect((await review(id, { holds: true })).status).toBe(404);
    expect((await list('?reviewed=true')).moments).toEqual([]);
    expect(await precision()).toMatchObject({ missed: 1 });
  });
});
