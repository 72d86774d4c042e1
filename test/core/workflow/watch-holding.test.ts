import { describe, expect, test } from 'vitest';
import { mapWatchTimes } from '../../../core/policies/watch/map-times.ts';
import { changeWatch, pauseWatch, resumeWatch, snoozeWatch } from '../../../core/policies/watch/change.ts';
import { afterUnseenTime, awaitsOpening } from '../../../core/policies/watch/holding.ts';
import { onClock } from '../../../core/sight/clock-change.ts';
import { addSeconds } from '../../../core/time.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { isWatchEvent, type WatchRun } from '../../../core/records/run.ts';
import type { WatchCondition } from '../../../core/records/watch.ts';
import { start } from '../../contract/records.ts';
import { newWatch } from '../../support/watches/watch-world.ts';
import { Random } from '../../simulation/random.ts';
import { VisitedCamera } from '../../simulation/visited-camera.ts';
import { createVisitedWatch } from '../../simulation/visited-watch.ts';

const begin = start.getTime();
const kinds = [
  ['HLS', { keyFrameMs: 2000, segmentMs: 6000 }],
  ['RTSP', { keyFrameMs: 1000, segmentMs: 0 }],
] as const;
const halfHour = 1800;

type Film = {
  kind?: { keyFrameMs: number; segmentMs: number };
  rule?: Partial<WatchCondition>;
  /** Seconds from which and to which it is there. */
  there: [number, number];
  troubles?: [kind: 'gone' | 'silent', from: number, to: number][];
  /** Seconds of the model calls that miss it: the first after each. */
  misses?: number[];
  toOpen?: number;
  interval?: number;
  until: number;
};

/**
 * Watches a thing that stays, with little else. Returns the times of the openings and of the model calls, in seconds.
 */
async function watchStay(film: Film) {
  const { kind = kinds[1][1], rule = {}, misses = [], until } = film;
  const camera = new VisitedCamera(kind, begin - 3_600_000);
  const [from, to] = film.there.map((seconds) => begin + seconds * 1000);
  camera.visits.push({ from: from!, to: to!, share: 0.1, isOther: false });
  for (const [trouble, first, last] of film.troubles ?? [])
    camera.troubles.push({ kind: trouble, from: begin + first * 1000, to: begin + last * 1000 });
  const plain = newWatch({ toOpen: film.toOpen ?? 2, openAfter: halfHour, interval: film.interval ?? 10 });
  const conditions = plain.config.conditions.map((each) => ({ ...each, ...rule }));
  const watch = { ...plain, config: { ...plain.config, conditions } };
  const visited = createVisitedWatch(watch, camera, new Random(1));
  const calls: number[] = [];
  const left = [...misses];
  const judge = camera.judge.bind(camera);
  camera.judge = (frame, nowMs) => {
    const holds = judge(frame, nowMs);
    calls.push((nowMs - begin) / 1000);
    if (!holds || left[0] === undefined || nowMs < begin + left[0] * 1000) return holds;
    left.shift();
    return false;
  };
  const since: (string | null)[] = [];
  let step = await visited.run.begin();
  while (visited.clock.now.getTime() < begin + until * 1000) {
    step = await visited.tick(step);
    since.push(presentWatch(visited.run.read(), visited.clock.now).state.conditions[0]!.holding_since);
  }
  const events = visited.changes.flatMap((change) => change.events.filter(isWatchEvent));
  const opened = events.flatMap((event) =>
    event.type === 'alert_opened' ? [(Date.parse(event.data.opened_at) - begin) / 1000] : [],
  );
  return { opened, calls, since, run: visited.run.read() };
}

function expectOnce(opened: readonly number[], at: number): void {
  expect(opened).toHaveLength(1);
  expect(opened[0]).toBeGreaterThanOrEqual(at);
  expect(opened[0]).toBeLessThan(at + 8);
}

test.each(kinds)(
  'an alert opens by one judged check when the condition has held for its time, though nothing moves (%s)',
  async (_name, kind) => {
    const { opened, calls, since } = await watchStay({ kind, there: [60, 3000], until: 2500 });
    expectOnce(opened, 60 + halfHour);
    expect(calls.filter((at) => at > 1850 && at < 1900)).toHaveLength(1);
    expect(Date.parse(since.at(100)!)).toBeLessThan(begin + 64_000);
    expect(since.at(-1)).toBeNull();
  },
);

test.each(kinds)('a condition that ends before its time opens no alert (%s)', async (_name, kind) => {
  const { opened, since } = await watchStay({ kind, there: [60, 1850], until: 4000 });
  expect(opened).toEqual([]);
  expect(since.at(-1)).toBeNull();
});

test('one verdict in half an hour that denies it changes nothing, and checks_to_close in a row restart its time', async () => {
  for (const alertOn of ['by_checks', 'each_visit', 'each_stay'] as const) {
    const rule = { alert_on: alertOn, checks_to_close: 2 };
    const once = await watchStay({ rule, there: [60, 3800], misses: [600, 1200], until: 3000 });
    expectOnce(once.opened, 60 + halfHour);
    const twice = await watchStay({ rule, there: [60, 3800], misses: [600, 601], until: 3000 });
    expect(twice.opened).toHaveLength(1);
    expect(twice.opened[0]).toBeGreaterThan(600 + halfHour);
  }
});

test('time that nobody saw does not count, and more than ten minutes of it restart the time', async () => {
  for (const trouble of ['gone', 'silent'] as const) {
    const short = await watchStay({ there: [60, 5000], troubles: [[trouble, 600, 640]], until: 4000 });
    expect(short.opened).toHaveLength(1);
    expect(short.opened[0]).toBeGreaterThan(60 + halfHour + 25);
    expect(short.opened[0]).toBeLessThan(60 + halfHour + 90);
    const long = await watchStay({ there: [60, 5000], troubles: [[trouble, 600, 1400]], until: 4000 });
    expect(long.opened).toHaveLength(1);
    expect(long.opened[0]).toBeGreaterThanOrEqual(1400 + halfHour);
  }
});

test('M of the last N verdicts begin the time with the first that holds', async () => {
  const rule = { checks_considered: 3 };
  const { opened } = await watchStay({ rule, toOpen: 2, there: [60, 4000], misses: [64], until: 3000 });
  expect(opened).toHaveLength(1);
  expect(opened[0]).toBeLessThan(60 + halfHour + 12);
});

test('the time does not begin before one that nobody saw while verdicts are still missing', async () => {
  const rule = { checks_to_open: 3 };
  const { calls } = await watchStay({ rule, there: [60, 4000], until: 100 });
  const first = calls.find((at) => at > 60)!;
  const gone = ['gone', first + 0.5, first + 200] as const;
  const { opened } = await watchStay({ rule, there: [60, 5000], troubles: [[...gone]], until: 4000 });
  expect(opened).toHaveLength(1);
  expect(opened[0]).toBeGreaterThan(first + 200 + halfHour);
});

test('a watch that checks every five minutes confirms it when it is due', async () => {
  const { opened, since } = await watchStay({ interval: 300, there: [60, 4000], until: 3400 });
  expectOnce(opened, (Date.parse(since.find((at) => at !== null)!) - begin) / 1000 + halfHour);
});

test('a claimed visit is as long as the time for which its condition must hold', async () => {
  const { run } = await watchStay({ there: [60, 4000], until: 300 });
  const claimed = presentWatch(run, start).state.shortest_visit_seconds;
  expect(claimed).toBeGreaterThan(halfHour);
  expect(claimed).toBeLessThan(halfHour + 30);
});

describe('a condition that holds', () => {
  const at = (seconds: number) => addSeconds(start, seconds);
  const holding = async () => (await watchStay({ there: [60, 4000], until: 300 })).run;
  const sinceOf = ({ state }: Partial<Pick<WatchRun, 'state'>>) => state?.conditions[0]?.holding?.since;

  test('an edit of its time keeps the time, and other numbers, words or another stream restart it', async () => {
    const run = await holding();
    const edit = (change: Partial<WatchCondition>, isOtherStream = false) => {
      const conditions = run.config.conditions.map((rule) => ({ ...rule, ...change }));
      return sinceOf(changeWatch(run, { config: { ...run.config, conditions }, isOtherStream }, at(300)).set);
    };
    expect(edit({ open_after_seconds: 600 })).toBe(sinceOf(run));
    expect(edit({ cooldown_seconds: 600 })).toBe(sinceOf(run));
    expect(edit({ checks_to_close: 5 })).toBeUndefined();
    expect(edit({ condition: 'another' })).toBeUndefined();
    expect(edit({}, true)).toBeUndefined();
  });

  test('a pause restarts its time', async () => {
    const run = await holding();
    const paused = pauseWatch(run, 'paused', at(300));
    expect(sinceOf(paused.set)).toBeUndefined();
    expect(sinceOf(resumeWatch({ ...run, ...paused.set }, at(310)).set)).toBeUndefined();
  });

  test('a snooze and a cooldown hold its alert back until their end', async () => {
    const run = await holding();
    const [rule] = run.config.conditions;
    const [snoozed] = snoozeWatch(run.state, 3000, undefined, at(300)).conditions;
    expect([2000, 3299, 3300].map((time) => awaitsOpening(snoozed!, rule!, at(time)))).toEqual([
      false,
      false,
      true,
    ]);
    const opened = { ...run.state.conditions[0]!, last_opened_at: start.toISOString() };
    const slow = { ...rule!, cooldown_seconds: 3000 };
    expect([2000, 3000].map((time) => awaitsOpening(opened, slow, at(time)))).toEqual([false, true]);
  });

  test('a clock that is set back keeps its time', async () => {
    const run = await holding();
    const moved = onClock(run, new Date(newest(run) - 3_600_000), mapWatchTimes);
    expect(newest(run) - Date.parse(sinceOf(run)!)).toBe(newest(moved) - Date.parse(sinceOf(moved)!));
  });

  test('a check without a verdict, also of it alone, is time that nobody saw', async () => {
    const run = await holding();
    const [state, rule] = [run.state.conditions[0]!, run.config.conditions[0]!];
    const seen = { inGap: false, intervalSeconds: 10, holds: true };
    const next = new Date(Date.parse(state.seen_at) + 20_000);
    expect(afterUnseenTime(state, rule, next, seen)).toEqual(state);
    const { holding: after } = afterUnseenTime({ ...state, unjudged: 1 }, rule, next, seen);
    expect(after?.unseen_seconds).toBe(20);
  });

  test('a gap of more than ten minutes restarts its time, however long the interval is', async () => {
    const run = await holding();
    const [state, rule] = [run.state.conditions[0]!, run.config.conditions[0]!];
    const afterGap = (seconds: number) => {
      const at = new Date(Date.parse(state.seen_at) + seconds * 1000);
      return afterUnseenTime(state, rule, at, { inGap: true, intervalSeconds: 300 });
    };
    expect(afterGap(600).holding?.unseen_seconds).toBe(600);
    expect(afterGap(601)).toMatchObject({ phase: 'unknown', history: '' });
    expect(afterGap(601).holding).toBeUndefined();
  });
});

/** Returns the time of the last sight, in milliseconds. */
function newest({ state }: WatchRun): number {
  return Date.parse(state.conditions[0]!.seen_at);
}
