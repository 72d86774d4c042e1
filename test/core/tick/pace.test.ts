import { expect, test } from 'vitest';
import { createDecodeTurns, limitDecodes } from '../../../adapters/embedded/load/limit-decodes.ts';
import { createPace } from '../../../core/tick/pace.ts';
import { computeStreamPhase } from '../../../core/stream/stream-phase.ts';
import { nextCaptureAt } from '../../../core/policies/job/next-tick.ts';
import { initialJobSight } from '../../../core/records/job.ts';
import { recordOutcome } from '../../../core/policies/job/record-outcome.ts';
import { computeCoverage } from '../../../core/policies/job/coverage.ts';
import { createHash } from 'node:crypto';
import { newJob, start } from '../../contract/records.ts';

/** Machine in virtual time: two decoders that take `decodeMs` per check, and jobs at 10 s. 40 jobs use it fully. */
const decodeMs = 500;
const decoders = 2;
const capacityPerSecond = (decoders * 1000) / decodeMs;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function openMachine() {
  let nowMs = start.getTime();
  const events: { atMs: number; run: () => void }[] = [];
  const logged: string[] = [];
  const log = {
    debug: () => undefined,
    info: (line: string) => void logged.push(line),
    warning: (line: string) => void logged.push(line),
    error: () => undefined,
  };
  const pace = createPace({ steadyNow: () => new Date(nowMs), log });
  const inTurn = createDecodeTurns({
    max: decoders,
    setTimer: () => () => undefined,
    elapsedMs: () => nowMs,
    report: (waitedMs) => pace.record('decoder', waitedMs),
  });
  const decode = async () => {
    await new Promise<void>((resolve) => at(nowMs + decodeMs, resolve));
    return { frame: new Uint8Array(), thumbnail: new Uint8Array() };
  };
  const ffmpeg = limitDecodes({ run: decode, runAll: async () => [await decode()] }, inTurn);
  const jobs: { checks: number[]; stopped: boolean; coverage: () => ReturnType<typeof computeCoverage> }[] =
    [];

  return { pace, jobs, logged, addJob, run, now: () => nowMs };

  function at(atMs: number, run: () => void): void {
    events.push({ atMs, run });
  }

  function addJob(intervalSeconds = 10): void {
    const phase = computeStreamPhase(`rtsp://camera-${jobs.length}.example/1`, sha256, 1);
    let job = newJob({ stream_phase: phase, started_at: new Date(nowMs).toISOString() });
    job = { ...job, config: { ...job.config, interval_seconds: intervalSeconds } };
    job.sight = { ...initialJobSight, counted_until: job.started_at };
    const record = {
      checks: [] as number[],
      stopped: false,
      coverage: () => computeCoverage(job, new Date(nowMs)),
    };
    jobs.push(record);
    void check();

    async function check(): Promise<void> {
      if (record.stopped) return;
      const input = { kind: 'pipe', format: 'mpegts', chunks: [] } as const;
      await ffmpeg.run(
        { ...input, chunks: [] },
        { mode: 'frames', clipSeconds: 0 },
        { timeoutMs: 1 },
        signal,
      );
      record.checks.push(nowMs);
      const stretch = pace.stretch(job.run_id, intervalSeconds);
      const now = new Date(nowMs);
      const outcome = { kind: 'skipped', why: 'no_motion' } as never;
      job = { ...job, sight: recordOutcome(job, outcome, now, stretch).sight };
      const next = nextCaptureAt(job, job.sight, now, stretch);
      const planned = { done: false, wait_until: next.toISOString(), judged: false, closing: false };
      job = { ...job, next: { ...planned, confirming: false, resolve_again: false, stretch } };
      at(next.getTime(), () => void check());
    }
  }

  async function run(seconds: number): Promise<void> {
    const endMs = nowMs + seconds * 1000;
    await settled();
    for (;;) {
      let first = 0;
      for (const [index, { atMs }] of events.entries())
        if (atMs < (events[first]?.atMs ?? Infinity)) first = index;
      const event = events[first];
      if (event === undefined || event.atMs > endMs) break;
      events[first] = events.at(-1)!;
      events.pop();
      nowMs = Math.max(nowMs, event.atMs);
      event.run();
      await settled();
    }
    nowMs = endMs;
  }
}

const { signal } = new AbortController();
const settled = () => new Promise((resolve) => setImmediate(resolve));

function count(checks: number[], fromMs: number): number {
  return checks.filter((ms) => ms >= fromMs).length;
}

test('no job gets less than 80 % of the median of checks at twice the capacity, and the machine stays in use', async () => {
  const machine = openMachine();
  for (let job = 0; job < 80; job += 1) machine.addJob();
  await machine.run(120);
  const fromMs = machine.now();
  await machine.run(600);
  const counts = machine.jobs.map(({ checks }) => count(checks, fromMs)).toSorted((a, b) => a - b);
  const median = counts[40]!;
  expect(counts[0]! / median).toBeGreaterThanOrEqual(0.8);
  const perSecond = counts.reduce((sum, checks) => sum + checks, 0) / 600;
  expect(perSecond).toBeGreaterThan(0.75 * capacityPerSecond);
  expect(machine.pace.read().lateSeconds).toBeLessThan(10);
  expect(machine.pace.retryAfterSeconds()).toBeGreaterThan(0);
  const { gaps, ratio } = machine.jobs[0]!.coverage();
  expect(new Set(gaps.map(({ reason }) => reason))).toEqual(new Set(['service']));
  expect(ratio).toBeLessThan(0.75);
});

test('jobs of different intervals are stretched by the same factor', async () => {
  const machine = openMachine();
  for (let job = 0; job < 30; job += 1) machine.addJob(5);
  for (let job = 0; job < 30; job += 1) machine.addJob(30);
  await machine.run(120);
  const fromMs = machine.now();
  await machine.run(600);
  const counts = machine.jobs.map(({ checks }) => count(checks, fromMs));
  for (const part of [counts.slice(0, 30), counts.slice(30)]) {
    const sorted = part.toSorted((a, b) => a - b);
    expect(sorted[0]! / sorted[15]!).toBeGreaterThanOrEqual(0.8);
  }
});

test('intervals return to normal without a burst when the overload ends', async () => {
  const machine = openMachine();
  for (let job = 0; job < 80; job += 1) machine.addJob();
  await machine.run(180);
  for (const job of machine.jobs.slice(0, 60)) job.stopped = true;
  const fromMs = machine.now();
  await machine.run(400);
  expect(machine.pace.read().stretch).toBe(1);
  expect(machine.pace.retryAfterSeconds()).toBeUndefined();
  expect(machine.logged).toEqual([
    'Checks are late: the service is overloaded and stretches all intervals',
    'Checks are in time again',
  ]);
  const left = machine.jobs.slice(60);
  const perSecond = Array.from({ length: 400 }, () => 0);
  for (const { checks } of left)
    for (const ms of checks) if (ms >= fromMs) perSecond[Math.floor((ms - fromMs) / 1000)]! += 1;
  // 20 jobs have 2 checks per second on average.
  expect(Math.max(...perSecond.slice(20))).toBeLessThanOrEqual(2 * capacityPerSecond);
  for (const { checks } of left) expect(count(checks, machine.now() - 100_000)).toBeGreaterThanOrEqual(9);
});

test('a start that wakes all jobs together, and a load within the capacity, are no overload', async () => {
  const machine = openMachine();
  for (let job = 0; job < 34; job += 1) machine.addJob();
  await machine.run(120);
  expect(machine.logged).toEqual([]);
  expect(machine.pace.read()).toMatchObject({ stretch: 1, lateChecks: 0 });
});
