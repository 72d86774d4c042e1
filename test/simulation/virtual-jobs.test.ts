import { describe, expect, test } from 'vitest';
import { rules } from '../../core/rules.ts';
import { jobStats } from '../../core/job/present-job.ts';
import { computeCoverage } from '../../core/policies/job/coverage.ts';
import type { Span } from './camera.ts';
import { clockDifferenceMs, expectedGaps, knownMs, requireAlerts, requirePace } from './oracle/job-oracle.ts';
import type { JobTick } from './oracle/job-oracle.ts';
import { disturbAtRandom, healthy, start, VirtualJobs, type JobOptions } from './virtual-jobs.ts';

const seconds = 1000;
const slow = { timeout: 120_000 };
/** `npm run simulate` and its mutations take all seeds and settings, `npm test` two settings, and half of the time. */
const takesAll = process.env['SIMULATION_SEEDS'] === 'all';
const seeds = takesAll ? [1, 2, 3] : [1];
const duration = takesAll ? 7200 : 3600;

/** Watches until the end, and until everything is delivered. */
async function watch(interval: number, options: JobOptions, config: Record<string, unknown> = {}) {
  const jobs = new VirtualJobs(options);
  return jobs.service.run(async () => {
    const observer = await jobs.start('monitor', {
      interval_seconds: interval,
      monitor_duration_seconds: duration,
      input_mode: 'frames',
      trigger_cooldown_seconds: 180,
      max_triggers: null,
      ...config,
    });
    await jobs.pass(duration + 600);
    jobs.receiver.requireAll();
    const job = await jobs.read(observer);
    const { ticks, events } = observer;
    return { job, ticks, events, alerts: ticks.filter(({ alerts }) => alerts), receiver: jobs.receiver };
  });
}

type Watched = Awaited<ReturnType<typeof watch>>;

/** Requires of a watch, however it ended, that its gaps are reported, and that nothing follows its end. */
function requireReport({ job, ticks, events }: Watched): void {
  const endedAt = Date.parse(job.ended_at!);
  const gaps = expectedGaps(ticks, start, endedAt);
  const gapSeconds = sum(gaps.map(({ from, to }) => Date.parse(to) - Date.parse(from))) / seconds;
  const coverage = computeCoverage(job, new Date(endedAt));
  expect(coverage.gaps).toEqual(gaps.slice(-20));
  expect(coverage.gap_seconds).toBeCloseTo(gapSeconds, 2);
  expect(coverage.ratio).toBeCloseTo(1 - (gapSeconds * seconds) / (endedAt - start), 2);
  expect(events.at(-1)?.type).toBe('job_stopped');
  const checks = events.flatMap((event) => (event.type === 'progress' ? [event.data] : []));
  expect(checks.map(({ stream }) => stream === 'reconnecting')).toEqual(
    ticks.flatMap(({ kind }) => (kind === 'not_captured' ? [] : [kind === 'failed'])),
  );
}

describe('a monitor of hours', () => {
  test.each(
    (takesAll ? [5, 10, 30] : [5, 30]).flatMap((interval) => seeds.map((seed) => ({ interval, seed }))),
  )(
    'a monitor every $interval s covers what it should, alerts once per cooldown and ends with its duration (seed $seed)',
    slow,
    async ({ interval, seed }) => {
      const watched = await watch(interval, { seed });
      expect(watched.job).toMatchObject({ status: 'stopped', reason: 'max_duration_reached' });
      expect(watched.job.ended_at).toBe(new Date(start + duration * seconds).toISOString());
      requireReport(watched);
      requireAlerts(watched.ticks, interval * seconds, 180 * seconds);
      requirePace(watched.ticks, (Math.max(interval, 16) + 1) * seconds);
      expect(watched.alerts.length).toBeGreaterThan(0);
    },
  );

  test('a monitor of a healthy stream covers all of it, in several executions', slow, async () => {
    const watched = await watch(5, { seed: 6, script: [] });
    requireReport(watched);
    expect(watched.ticks.filter(({ kind }) => kind === 'captured')).toHaveLength(duration / 5);
    expect(watched.job.generation).toBe(Math.floor(duration / 5 / rules.ticksPerExecution));
    expect(computeCoverage(watched.job, new Date(start + 1e9))).toMatchObject({ ratio: 1, gaps: [] });
  });

  /** Time of the last tick of a generation, at one tick every 5 s. */
  const handOver = 10 * 5 * rules.ticksPerExecution;

  test('a monitor checks no frozen frame a second time after a hand-over', slow, async () => {
    const frozen: Span = { mode: 'frozen', from: handOver - 100, to: handOver + 200 };
    const script: Span[] = [frozen, { mode: 'holds', from: frozen.from - 20, to: frozen.from + 20 }];
    const { job, alerts } = await watch(5, { seed: 7, script }, { trigger_cooldown_seconds: 0 });
    expect(job.generation).toBeGreaterThan(0);
    expect(alerts.length).toBeGreaterThan(0);
    expect(alerts.at(-1)?.at).toBeLessThan(start + (frozen.from + 40) * seconds);
    expect(job.counters.frozen_frames).toBeGreaterThan(50);
  });

  test.each([
    { mode: 'stale', from: handOver - 30, interval: 5 },
    { mode: 'stale', from: 2000, interval: 10 },
    { mode: 'failed', from: 2000, interval: 10 },
  ] as const)(
    'a monitor of a stream that is $mode for good after $from s fails after one grace period',
    slow,
    async ({ mode, from, interval }) => {
      const watched = await watch(interval, { seed: 8, script: [{ mode, from, to: Infinity }] });
      expect(watched.job).toMatchObject({ status: 'failed', reason: 'stream_lost' });
      const lostAfter = (Date.parse(watched.job.ended_at!) - start) / seconds - from;
      expect(lostAfter).toBeGreaterThan(60);
      expect(lostAfter).toBeLessThanOrEqual(60 + 10 + 16 + 6);
      expect(watched.events.slice(-2).map(({ type }) => type)).toEqual(['error', 'job_stopped']);
      requireReport(watched);
    },
  );

  test('a monitor with max_triggers 2 ends with the second alert', slow, async () => {
    const script = [600, 1200, 1800].map((from) => ({ mode: 'holds' as const, from, to: from + 100 }));
    const watched = await watch(10, { seed: 9, script }, { max_triggers: 2 });
    expect(watched.job).toMatchObject({ status: 'completed', reason: 'max_triggers_reached' });
    expect(watched.alerts.map(({ at }) => (at - start) / seconds)).toEqual([600, 1200]);
    requireReport(watched);
  });

  test('a monitor of a stream that ends stops with it', slow, async () => {
    const watched = await watch(10, { seed: 10, script: [{ mode: 'ended', from: 2000, to: Infinity }] });
    expect(watched.job).toMatchObject({ status: 'stopped', reason: 'stream_ended' });
    expect(watched.job.ended_at).toBe(new Date(start + 2000 * seconds).toISOString());
    requireReport(watched);
  });
});

/** Lives through an hour with a clock that is set, runs slow or fast or stops in a sleep, and a disk that fills up. */
async function liveUnruly(kind: 'monitor' | 'digest', seed: number, config: Record<string, unknown>) {
  const jobs = new VirtualJobs({ seed, habits: healthy });
  const { service } = jobs;
  return service.run(async () => {
    const observer = await jobs.start(kind, config);
    await jobs.pass(60);
    disturbAtRandom(service);
    await jobs.pass(3600);
    service.calm = true;
    await jobs.pass(900);
    // A caller reads the job and cancels it while its times are ahead of the clock.
    const setBack = 4 * 3600;
    service.time.step(-setBack);
    const readAt = service.time.nowMs + setBack * seconds;
    const running = await jobs.read(observer);
    await jobs.cancel(observer);
    const job = await jobs.read(observer);
    const stats = [running, job].map((read) => jobStats(read, service.time.now()));
    await jobs.pass(900);
    jobs.receiver.requireAll();
    const { ticks, events } = observer;
    return { running, stats, readAt, job, ticks, events };
  });
}

/** The coverage adds up to the time that the service can know. */
function requireCoverage(
  { stats, running, readAt, ticks }: Awaited<ReturnType<typeof liveUnruly>>,
  interval: number,
): void {
  const known = ticks.map((tick, index) => knownMs(ticks[index - 1], tick, interval));
  const disturbed = known.filter(({ isDisturbed }) => isDisturbed).length;
  const slack = (disturbed + 2) * (clockDifferenceMs + interval);
  const sinceTick = Math.max(0, readAt - (ticks.at(-1) as JobTick).now);
  const unwatched = known.flatMap(({ least }) => (least > 2 * interval + 40 * seconds ? [least] : []));
  for (const { watch_duration_seconds: duration, coverage } of stats) {
    expect(duration * seconds).toBeGreaterThanOrEqual(sum(known.map(({ least }) => least)) - slack);
    expect(duration * seconds).toBeLessThanOrEqual(sum(known.map(({ most }) => most)) + sinceTick + slack);
    expect(coverage.watched_seconds + coverage.gap_seconds).toBeCloseTo(duration, 1);
    expect(coverage.gap_seconds * seconds).toBeGreaterThanOrEqual(sum(unwatched) - slack);
  }
  for (const { from, to } of running.sight.gaps) expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
}

describe('a job on an unruly machine', () => {
  test.each(
    (takesAll ? [0, 30, 120] : [0, 120]).flatMap((cooldown) => seeds.map((seed) => ({ cooldown, seed }))),
  )(
    'a monitor with a cooldown of $cooldown s does not fail, suppresses no alert and repeats none, and its coverage adds up (seed $seed)',
    slow,
    async ({ cooldown, seed }) => {
      const interval = 10 * seconds;
      const lived = await liveUnruly('monitor', seed, {
        interval_seconds: 10,
        monitor_duration_seconds: 4 * 86_400,
        trigger_cooldown_seconds: cooldown,
        max_triggers: null,
      });
      expect(lived.running.status).toBe('running');
      requireAlerts(lived.ticks, interval, cooldown * seconds);
      requirePace(lived.ticks, 1.2 * (interval + clockDifferenceMs + seconds));
      requireCoverage(lived, interval);
    },
  );

  test.each(seeds)(
    'a digest does not fail, and has every sample in one of its windows (seed %i)',
    slow,
    async (seed) => {
      const config = { window_minutes: 3, capture_interval_seconds: 10 };
      const { job, events } = await liveUnruly('digest', seed, config);
      expect(job.status).not.toBe('failed');
      const summaries = events.flatMap((each) => (each.type === 'summary_generated' ? [each.data] : []));
      expect(summaries.map(({ window_index: index }) => index)).toEqual(summaries.map((_, at) => at + 1));
      expect(sum(summaries.map(({ frames_captured: count }) => count))).toBe(job.counters.frames_captured);
      for (const { window_start: from, window_end: to } of summaries)
        expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
    },
  );
});

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
