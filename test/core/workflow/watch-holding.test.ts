import { describe, expect, test } from 'vitest';
import { mapWatchTimes } from '../../../core/policies/watch/map-times.ts';
import { changeWatch, pauseWatch, resumeWatch, snoozeWatch } from '../../../core/policies/watch/change.ts';
import { afterUnseenTime, awaitsOpening } from '../../../core/policies/watch/holding.ts';
import { onClock } from '../../../core/sight/clock-change.ts';
import { addSeconds } from '../../../core/time.ts';
import { presentWatch } from '../../../core/watch/present-watch.ts';
import { isWatchEvent, type WatchRun } from '../../../core/records/run.ts';
import type { Schedule, WatchCondition } from '../../../core/records/watch.ts';
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
const quarterHour = 900;

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
  schedule?: Schedule;
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
  const { toOpen = 2, interval = 10, schedule = null } = film;
  const plain = newWatch({ toOpen, openAfter: quarterHour, interval, schedule });
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
    const { opened, calls, since } = await watchStay({ kind, there: [60, 2100], until: 1600 });
    expectOnce(opened, 60 + quarterHour);
    expect(calls.filter((at) => at > 950 && at < 1000)).toHaveLength(1);
    expect(Date.parse(since.at(50)!)).toBeLessThan(begin + 64_000);
    expect(since.at(-1)).toBeNull();
  },
);

test.each(kinds)('a condition that ends before its time opens no alert (%s)', async (_name, kind) => {
  const { opened, since } = await watchStay({ kind, there: [60, 950], until: 2000 });
  expect(opened).toEqual([]);
  expect(since.at(-1)).toBeNull();
});

test('one verdict in a quarter of an hour that denies it changes nothing, and checks_to_close in a row restart its time', async () => {
  for (const alertOn of ['by_checks', 'each_visit', 'each_stay'] as const) {
    const rule = { alert_on: alertOn, checks_to_close: 2 };
    const once = await watchStay({ rule, there: [60, 2900], misses: [300, 600], until: 2100 });
    expectOnce(once.opened, 60 + quarterHour);
    const twice = await watchStay({ rule, there: [60, 2900], misses: [300, 301], until: 2100 });
    expect(twice.opened).toHaveLength(1);
    expect(twice.opened[0]).toBeGreaterThan(300 + quarterHour);
  }
});

test('time that nobody saw does not count, and more than ten minutes of it restart the time', async () => {
  for (const trouble of ['gone', 'silent'] as const) {
    const [nine, eleven] = [540, 660];
    const watchGap = async (seconds: number) => {
      const troubles: Film['troubles'] = [[trouble, 600, 600 + seconds]];
      return (await watchStay({ there: [60, 5000], troubles, until: 2400 })).opened;
    };
    const short = await watchGap(nine);
    expect(short).toHaveLength(1);
    expect(short[0]).toBeGreaterThan(60 + quarterHour + nine - 15);
    expect(short[0]).toBeLessThan(60 + quarterHour + nine + 50);
    const long = await watchGap(eleven);
    expect(long).toHaveLength(1);
    expect(long[0]).toBeGreaterThanOrEqual(600 + eleven + quarterHour);
  }
});

test('the end of a span of the schedule restarts the time', async () => {
  const span = { days: ['sun'] as const, from: '00:00', to: '12:10' };
  const active = [
    { ...span, days: [...span.days] },
    { days: [...span.days], from: '12:15', to: '24:00' },
  ];
  const schedule = { time_zone: 'UTC', active };
  const { opened } = await watchStay({ schedule, there: [60, 4000], until: 1900 });
  expectOnce(opened, 900 + quarterHour);
});

test('M of the last N verdicts begin the time with the first that holds', async () => {
  const rule = { checks_considered: 3 };
  const { opened } = await watchStay({ rule, toOpen: 2, there: [60, 4000], misses: [64], until: 1500 });
  expect(opened).toHaveLength(1);
  expect(opened[0]).toBeLessThan(60 + quarterHour + 12);
});

test('the time does not begin before one that nobody saw while verdicts are still missing', async () => {
  const rule = { checks_to_open: 3 };
  const { calls } = await watchStay({ rule, there: [60, 4000], until: 100 });
  const first = calls.find((at) => at > 60)!;
  const gone = ['gone', first + 0.5, first + 200] as const;
  const { opened } = await watchStay({ rule, there: [60, 5000], troubles: [[...gone]], until: 1500 });
  expect(opened).toHaveLength(1);
  expect(opened[0]).toBeGreaterThan(first + 200 + quarterHour);
});

test('a watch that checks every five minutes confirms it when it is due', async () => {
  const { opened, since } = await watchStay({ interval: 300, there: [60, 4000], until: 2200 });
  expectOnce(opened, (Date.parse(since.find((at) => at !== null)!) - begin) / 1000 + quarterHour);
});

test('a claimed visit is as long as the time for which its condition must hold', async () => {
  const { run } = await watchStay({ there: [60, 4000], until: 300 });
  const claimed = presentWatch(run, start).state.shortest_visit_seconds;
  expect(claimed).toBeGreaterThan(quarterHour);
  expect(claimed).toBeLessThan(quarterHour + 30);
});

describe('a condition that holds', () => {
  const at = (seconds: number) => addSeconds(start, seconds);
  const holding = async () => (await watchStay({ there: [60, 4000], until: 300 })).run;
  const sinceOf = ({ state }: Partial<Pick<WatchRun, 'state'>>) => state?.conditions[0]?.holding?.since;

  test('a lower or higher time counts from the same begin, and other numbers, words or another stream restart it', async () => {
    const run = await holding();
    const edit = (change: Partial<WatchCondition>, isOtherStream = false) => {
      const conditions = run.config.conditions.map((rule) => ({ ...rule, ...change }));
      return sinceOf(changeWatch(run, { config: { ...run.config, conditions }, isOtherStream }, at(300)).set);
    };
    expect(edit({ open_after_seconds: 600 })).toBe(sinceOf(run));
    const isDue = (seconds: number, open_after_seconds: number) =>
      awaitsOpening(
        run.state.conditions[0]!,
        { ...run.config.conditions[0]!, open_after_seconds },
        at(seconds),
      );
    expect([isDue(300, 200), isDue(300, 600), isDue(1000, quarterHour), isDue(1000, 3600)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
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
