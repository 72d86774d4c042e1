import { beforeEach, describe, expect, test } from 'vitest';
import { newCaller } from '../../../core/records/caller.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import type { Moment } from '../../../core/records/moment.ts';
import { deleteStoredWatch } from '../../../core/watch/control-watch.ts';
import type { Span } from '../../../core/records/sight.ts';
import { after, start } from '../../contract/records.ts';
import { gate, newMoment } from '../../contract/moment-store.contract.ts';
import { newChange, newCreation } from '../../contract/watch-records.ts';
import { createClientFor, type ApiClient } from '../../support/api/api-client.ts';
import { forgeCursor, readState } from '../../support/api/forge-cursor.ts';
import { newWatchConfig } from '../../support/watches/watch-records.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let alice: ApiClient;
/** Pictures that the model was shown, by their first byte, in each of its calls. */
let shown: number[][];
/** Pictures that show what is searched. */
let matching: Set<number>;
const yard = '3f2504e0-4f89-41d3-9a0c-0305e82c3302';
const theirs = '3f2504e0-4f89-41d3-9a0c-0305e82c3303';
const tokens = { input_tokens: 100, output_tokens: 10 };

beforeEach(async () => {
  world = createWorld();
  world.clock.now = after(7000);
  alice = await createClientFor(world, ['jobs'], 'alice');
  shown = [];
  matching = new Set();
  world.c.vision = {
    ...world.c.vision,
    capabilities: { ...world.c.vision.capabilities, maxPictures: 3 },
    words: async () => ({ words: ['lorry'], tokens }),
    matches: async (pictures) => {
      shown.push(pictures.map(([number = 0]) => number));
      return { matches: pictures.map(([number = 0]) => matching.has(number)), tokens };
    },
  };
  await watch(gate, 'alice');
});

async function watch(run_id: string, caller: string, fields = {}) {
  const config = newWatchConfig({ schedule: null, destinations: [], name: run_id.slice(-2), ...fields });
  await world.c.watches.create(newCreation({ run_id, caller, config }), start);
}

/** Stores moments, a capture each, and a picture whose byte is the number of the moment. */
async function remember(...moments: Moment[]) {
  for (const [index, moment] of moments.entries()) {
    const run = await world.c.runs.get(moment.watch_id, world.clock.now);
    if (run?.policy !== 'watch') throw new Error('No watch');
    await world.c.runs.commit(newChange(run, { moments: [moment], set: {} }));
    if (moment.frame_key !== null)
      await world.c.media.put(moment.frame_key, new Uint8Array([index]), 'image/jpeg');
  }
}

/** Moment with a sentence, in minutes after the start. */
const says = (minute: number, scene: string, fields: Partial<Moment> = {}) =>
  newMoment(60 * minute, { scene, verdicts: [], ...fields });
const search = async (body: object, client = alice) => {
  const answer = await client.call('POST', '/moments/search', { query: 'a white van', ...body });
  return { ...answer.body, status: answer.status };
};
const minute = (at: string) => (Date.parse(at) - start.getTime()) / 60_000;
const minutesOf = ({ results }: { results: { moment: Moment }[] }) =>
  results.map(({ moment }) => minute(moment.at));

test('a search finds each visit once, by its best picture, without those that the model denies', async () => {
  await remember(
    says(0, 'A white van'),
    says(0.5, 'A white van, open'),
    says(1, 'An empty yard'),
    says(5, 'A van'),
    says(10, 'A lorry'),
    says(15, 'A dog'),
  );
  matching.add(0).add(1).add(3);
  const answer = await search({});
  expect(answer.status).toBe(200);
  expect(minutesOf(answer)).toEqual([0, 5]);
  expect(shown).toEqual([[0, 3, 4]]);
  expect(answer).toMatchObject({
    next_cursor: null,
    words: ['lorry'],
    moments: 6,
    matched_in_words: 4,
    looked_at: 3,
    model_calls: 2,
    limit_reached: false,
  });
  expect(answer.results[0]).toMatchObject({
    matched: true,
    from: after(0).toISOString(),
    to: after(30).toISOString(),
    moment: { scene: 'A white van', picture_url: expect.stringContaining('/picture') },
  });
  expect(answer.sentence).toMatch(
    /^2 visits found: 6 moments, 4 matched in words, 3 checked; `thorough` checks all \d visits/,
  );
});

test('a search for the condition of a watch finds each visit once, and what its verdicts deny comes last', async () => {
  const van = (minute: number, triggered: boolean) =>
    says(minute, triggered ? 'A white van' : 'An empty yard', {
      verdicts: [
        { condition_id: 'van', triggered, explanation: triggered ? 'A white van' : 'No white van is there' },
      ],
    });
  await remember(
    van(0, true),
    van(0.2, true),
    van(0.4, false),
    van(0.6, true),
    van(0.8, false),
    van(1, true),
  );
  matching.add(0).add(1).add(3).add(5);
  const answer = await search({});
  expect(minutesOf(answer)).toEqual([1, 0.6, 0]);
  expect(shown).toEqual([
    [5, 3, 0],
    [4, 2],
  ]);
});

test('a thorough search finds what no sentence names, and an ordinary one has its price', async () => {
  world.c.modelPrice = { input: 0.000_001, output: 0, pictureTokens: 1000, videoTokensPerSecond: null };
  await remember(
    says(0, 'A dog'),
    says(0.2, 'A dog'),
    says(3, 'A cat'),
    says(3.1, '', { scene: undefined }),
    says(9, 'A bird'),
  );
  matching.add(3);
  const answer = await search({});
  expect(answer.results).toEqual([]);
  expect(answer.sentence).toMatch(
    /^Nothing found: 5 moments, 0 matched in words, 0 checked; `thorough` checks all 4 visits \(about \$0\.005\)/,
  );
  expect(answer.thorough).toMatchObject({ visits: 4, exact: true, model_calls: 2 });
  expect(shown).toEqual([]);
  const thorough = await search({ thorough: true });
  expect(minutesOf(thorough)).toEqual([3.1]);
  expect(shown.flat()).toHaveLength(4);
  expect(thorough.sentence).toContain('4 checked, a picture for each of 4 visits');
});

test('the sentence says what nobody saw, by the clock of the watch', async () => {
  const schedule = {
    time_zone: 'Europe/Berlin',
    active: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '06:00', to: '18:00' }],
  };
  await watch(yard, 'alice', { schedule, name: 'Yard' });
  const span = (from: number, to: number, reason: Span['reason']): Span => ({
    from: after(from),
    to: after(to),
    class: reason === null ? 'quiet' : 'not_seen',
    reason,
  });
  const { runs } = world.c;
  const run = await runs.get(yard, world.clock.now);
  if (run?.policy !== 'watch') throw new Error('No watch');
  const hour = start.toISOString();
  const seen = {
    spans: [span(0, 600, null), span(600, 1500, 'stream'), span(1500, 2000, null), span(2300, 3600, null)],
    unjudged: {},
  };
  // Spans end at tenths of a second.
  const sight = { ...run.sight, counted_until: after(3600.04).toISOString() };
  await runs.commit(newChange(run, { set: { sight }, hours: [{ hour, counts: {}, seen }] }));
  const answer = await search({ watch_ids: [yard], to: after(3609).toISOString() });
  expect(answer.not_seen).toEqual([
    { watch_id: yard, from: after(600).toISOString(), to: after(1500).toISOString(), reason: 'stream' },
    // A pause, however short.
    { watch_id: yard, from: after(2000).toISOString(), to: after(2300).toISOString(), reason: 'paused' },
  ]);
  expect(answer.sentence).toContain('off by schedule 18:00 to 06:00 (Europe/Berlin)');
  expect(answer.sentence).toContain('not seen Sun 1 Mar 13:10 to 13:25 (Europe/Berlin): camera lost');
  expect(answer.sentence).toMatch(/Visits of [\d.]+ s and more are sure to be seen/);
});

test.each([
  [['00:00', '24:00'], undefined],
  [['08:00', '08:00'], undefined],
  [['06:00', '24:00'], 'off by schedule 00:00 to 06:00 (Europe/Berlin)'],
])('a schedule of all days, %j, reads %s', async ([from, to], sentencePart) => {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  await watch(yard, 'alice', { schedule: { time_zone: 'Europe/Berlin', active: [{ days, from, to }] } });
  const { sentence } = await search({ watch_ids: [yard] });
  expect(/o(?:ff|n) by schedule[^;]*/.exec(sentence)?.[0]).toBe(sentencePart);
});

describe('a search of two watches', () => {
  const busy = Array.from({ length: 8 }, (_, index) => says(5 * index, 'A white van'));
  const quiet = Array.from({ length: 5 }, (_, index) => says(5 * index, 'A van', { watch_id: yard }));
  const watchesOf = ({ results }: { results: { moment: Moment }[] }) =>
    new Set(results.map(({ moment }) => moment.watch_id)).size;

  beforeEach(async () => {
    await watch(yard, 'alice');
    await remember(...busy, ...quiet);
    for (let index = 0; index < 13; index += 1) matching.add(index);
  });

  test('one with many visits leaves pictures of the first calls to the other', async () => {
    expect(watchesOf(await search({ max_calls: 2 }))).toBe(2);
  });

  test('a thorough search reaches both with the calls that it was estimated at', async () => {
    const { thorough } = await search({ max_calls: 0 });
    expect(thorough).toMatchObject({ visits: 13, model_calls: 5 });
    const answer = await search({ thorough: true, max_calls: thorough.model_calls });
    expect(answer).toMatchObject({ next_cursor: null, looked_at: 13 });
    expect(watchesOf(answer)).toBe(2);
  });
});

describe('a search in parts', () => {
  const many = Array.from({ length: 8 }, (_, index) => says(5 * index, 'A white van'));

  test('a cursor continues where the response before has ended, and asks for no words again', async () => {
    await remember(...many);
    for (const index of many.keys()) matching.add(index);
    const first = await search({ limit: 3 });
    expect(first.results).toHaveLength(3);
    const second = await search({ limit: 3, cursor: first.next_cursor });
    const third = await search({ limit: 3, cursor: second.next_cursor });
    expect([first, second, third].map(({ sentence }) => sentence.split(':')[0])).toEqual([
      '3 visits found',
      '6 visits found',
      '8 visits found',
    ]);
    expect(third).toMatchObject({ next_cursor: null, looked_at: 8, model_calls: 4 });
    expect([first, second, third].flatMap(minutesOf).toSorted((a, b) => a - b)).toEqual(
      many.map((_, index) => 5 * index),
    );
  });

  test('the calls of a search are limited over all of its parts', async () => {
    await remember(...many);
    const first = await search({ max_calls: 2 });
    expect(first).toMatchObject({ limit_reached: true, looked_at: 3, results: [] });
    expect(first.sentence).toContain('Nothing found yet');
    expect(await search({ max_calls: 2, cursor: first.next_cursor })).toMatchObject({
      model_calls: 2,
      looked_at: 3,
    });
    expect(await search({ max_calls: 9, cursor: first.next_cursor })).toMatchObject({
      next_cursor: null,
      looked_at: 8,
    });
    expect(await search({ max_calls: 0, thorough: true })).toMatchObject({
      model_calls: 0,
      thorough: { visits: 8 },
    });
  });

  test('a thorough search is continued too, and its neighboring matches are one visit', async () => {
    world.c.modelPrice = { input: 0.000_001, output: 0, pictureTokens: 1000, videoTokensPerSecond: null };
    await remember(
      says(0, 'A dog'),
      says(0.5, 'A cat'),
      says(0.9, 'A bird'),
      says(20, 'A dog'),
      says(25, 'A cat'),
    );
    matching.add(0).add(1).add(2).add(4);
    const first = await search({ thorough: true, limit: 1 });
    const before = await world.c.meter.read();
    const rest = await search({ thorough: true, cursor: first.next_cursor, limit: 9 });
    expect([first, rest].flatMap(minutesOf)).toEqual([25, 0.9]);
    const { searches } = await world.c.meter.read();
    const spent = searches.microUsd - before.searches.microUsd;
    expect(spent).toBeCloseTo((rest.cost_usd - first.cost_usd) * 1e6);
    expect(spent).toBeGreaterThan(0);
    const { model_calls: calls } = rest;
    expect((await world.c.meter.read()).searches).toMatchObject({ searches: 1, calls });
    const whole = await search({ thorough: true });
    expect(minutesOf(whole)).toEqual([25, 0.9]);
    expect(whole.results.at(-1)).toMatchObject({ from: after(0).toISOString(), to: after(54).toISOString() });
  });

  test('a moment that expires meanwhile is left out, and a picture that is gone leaves what its words say', async () => {
    await remember(...many.slice(0, 3), says(20, 'A white van', { frame_key: null }));
    matching.add(0).add(1).add(2);
    const first = await search({ limit: 100, max_calls: 1 });
    await world.c.moments.remove(gate, after(400), 2);
    const rest = await search({ limit: 100, cursor: first.next_cursor });
    expect(minutesOf(rest).toSorted((a, b) => a - b)).toEqual([10, 20]);
    expect(rest.results.map(({ matched }: { matched: boolean }) => matched).toSorted()).toEqual([null, true]);
    expect(rest.sentence).toContain('1 without a picture');
  });

  test('two watches that are deleted while the model looks are in no further part', async () => {
    await watch(yard, 'alice');
    await remember(
      ...many.slice(0, 4),
      ...many.slice(0, 4).map(({ at, scene }) => says(minute(at), scene ?? '', { watch_id: yard })),
    );
    for (let index = 0; index < 8; index += 1) matching.add(index);
    const { matches } = world.c.vision;
    const doomed = [yard, gate];
    world.c.vision.matches = async (...given) => {
      const next = doomed.shift();
      if (next) await deleteStoredWatch(next, 'alice', world.c);
      return matches(...given);
    };
    const first = await search({ max_calls: 2 });
    const second = await search({ max_calls: 3, cursor: first.next_cursor });
    const left = minutesOf(first);
    const rest = await search({ cursor: second.next_cursor ?? first.next_cursor });
    expect([first.status, second.status, rest.status]).toEqual([200, 200, 200]);
    expect(left).toHaveLength(3);
    expect(second.results.every(({ moment }: { moment: Moment }) => moment.watch_id === gate)).toBe(true);
    expect(rest.results).toEqual([]);
    expect(shown.flat()).toHaveLength(3 + second.looked_at - first.looked_at);
  });

  test('a call that fails is repeated with one picture, and an answer keeps what it has', async () => {
    await remember(...many.slice(0, 3));
    const { matches } = world.c.vision;
    world.c.vision.matches = async (pictures, ...given) => {
      if (pictures.length > 1 || pictures[0]?.[0] === 1) throw new VisionError('Too slow.');
      return matches(pictures, ...given);
    };
    matching.add(2);
    const answer = await search({});
    expect(answer).toMatchObject({ status: 200, looked_at: 1, model_calls: 4 });
    expect(minutesOf(answer)).toEqual([10]);
    expect(answer.next_cursor).not.toBeNull();
    world.c.vision.matches = async () => Promise.reject(new VisionError('Gone.'));
    expect(await search({})).toMatchObject({ status: 500, error: { code: 'VLM_ERROR' } });
  });
});

describe('a bad search', () => {
  test('a query of common words only finds nothing in words, and says so', async () => {
    await remember(says(0, 'A white van'));
    world.c.vision.words = async () => Promise.reject(new VisionError('Gone.'));
    const answer = await search({ query: 'is there any?' });
    expect(answer).toMatchObject({ status: 200, results: [], matched_in_words: 0, moments: 1 });
  });
});

describe('two callers', () => {
  let bob: ApiClient;
  beforeEach(async () => {
    bob = await createClientFor(world, ['jobs'], 'bob');
    await watch(theirs, 'bob');
    await world.c.callers.add(newCaller('bob', null, world.c.now()));
    await remember(
      says(0, 'A white van'),
      says(5, 'A white van'),
      says(10, 'A white van', { watch_id: theirs, caller: 'bob' }),
    );
    for (const index of [0, 1, 2]) matching.add(index);
  });

  test('nothing of another caller is found, checked or paid', async () => {
    expect(minutesOf(await search({}))).toEqual([5, 0]);
    expect(minutesOf(await search({}, bob))).toEqual([10]);
    expect(minutesOf(await search({ thorough: true }, bob))).toEqual([10]);
    expect(shown).toEqual([[1, 0], [2], [2]]);
    const day = start.toISOString().slice(0, 10);
    const [use] = await world.c.usage.days('bob', day, day);
    expect(use?.use.model_calls).toBe(3);
    expect((await search({ watch_ids: [gate] }, bob)).status).toBe(404);
    expect(JSON.stringify(await search({}, bob))).not.toContain(gate);
  });

  test('a cursor that somebody has changed is refused', async () => {
    const { next_cursor: cursor } = await search({ max_calls: 1 });
    const { next_cursor: other } = await search({ max_calls: 1 }, bob);
    const { candidates } = readState(cursor);
    const far = Date.parse('3026-03-01T00:00:00Z');
    for (const forged of [{ candidates }, { to: far }, { from: 9e15 }, { candidates: [{ id: 'x' }] }])
      expect((await search({ cursor: forgeCursor(other, forged) }, bob)).status).toBe(400);
    expect((await search({ cursor: forgeCursor(other, {}) }, bob)).status).toBe(200);
    expect(shown).toEqual([[2]]);
  });

  test('the metrics count searches with their calls and price', async () => {
    await search({});
    const first = await search({ max_calls: 1 }, bob);
    await search({ cursor: first.next_cursor }, bob);
    expect((await world.c.meter.read()).searches).toMatchObject({ searches: 2, calls: 4 });
  });
});
