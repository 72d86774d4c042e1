import { describe, expect, test } from 'vitest';
import { createCurrentCaller } from '../../../adapters/embedded/load/current-caller.ts';
import { createDecodeTurns, limitDecodes } from '../../../adapters/embedded/load/limit-decodes.ts';
import { behindChecks } from '../../../core/ports/callers.ts';
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
  const { asCaller, currentCaller } = createCurrentCaller();
  const inTurn = createDecodeTurns({
    max: decoders,
    reserved: 0,
    currentCaller,
    setTimer: () => () => undefined,
    elapsedMs: () => nowMs,
    report: (...wait) => pace.record('decoder', ...wait),
    reportUse: pace.recordUse,
  });
  const decode = (durationMs: number) => async () => {
    await new Promise<void>((resolve) => at(nowMs + durationMs, resolve));
    return { frame: new Uint8Array(), thumbnail: new Uint8Array() };
  };
  const jobs: { checks: number[]; stopped: boolean; coverage: () => ReturnType<typeof computeCoverage> }[] =
    [];

  return { pace, jobs, logged, addJob, search, run, now: () => nowMs };

  function at(atMs: number, run: () => void): void {
    events.push({ atMs, run });
  }

  function search(caller: string): void {
    void asCaller(behindChecks(caller), () => inTurn(decode(decodeMs), signal)).then(() => search(caller));
  }

  function addJob(intervalSeconds = 10, { caller = 'harbour', takesMs = decodeMs } = {}): void {
    const run = decode(takesMs);
    const ffmpeg = limitDecodes({ run, runAll: async () => [await run()] }, inTurn);
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
      const wanted = { mode: 'frames', clipSeconds: 0 } as const;
      await asCaller(caller, () => ffmpeg.run({ ...input, chunks: [] }, wanted, { timeoutMs: 1 }, signal));
      record.checks.push(nowMs);
      const stretch = pace.stretch({ run_id: job.run_id, caller }, intervalSeconds);
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
  expect(machine.pace.retryAfterSeconds('harbour')).toBeGreaterThan(0);
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
  expect(machine.pace.retryAfterSeconds('harbour')).toBeUndefined();
  expect(machine.logged).toEqual([
    'Checks are late: the service is overloaded and stretches intervals',
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

describe('of several callers, those beyond an equal share are stretched', () => {
  const modest = { caller: 'modest' };
  const checksOf = (jobs: { checks: number[] }[], fromMs: number) =>
    jobs.map(({ checks }) => count(checks, fromMs));

  test('one that overloads the machine leaves the pace of a modest one, which may create further jobs', async () => {
    const machine = openMachine();
    for (let job = 0; job < 5; job += 1) machine.addJob(10, modest);
    await machine.run(60);
    for (let job = 0; job < 120; job += 1) machine.addJob(10, { caller: 'greedy' });
    await machine.run(120);
    const fromMs = machine.now();
    await machine.run(600);
    expect(Math.min(...checksOf(machine.jobs.slice(0, 5), fromMs))).toBeGreaterThanOrEqual(59);
    expect(Math.max(...checksOf(machine.jobs.slice(5), fromMs))).toBeLessThan(30);
    expect(machine.pace.retryAfterSeconds('modest')).toBeUndefined();
    expect(machine.pace.retryAfterSeconds('new')).toBeUndefined();
    expect(machine.pace.retryAfterSeconds('greedy')).toBeGreaterThan(0);
  });

  test('time of the machine counts, not the number of checks', async () => {
    const machine = openMachine();
    for (let job = 0; job < 20; job += 1) machine.addJob(10, { ...modest, takesMs: 100 });
    for (let job = 0; job < 12; job += 1) machine.addJob(10, { caller: 'greedy', takesMs: 4000 });
    await machine.run(180);
    const fromMs = machine.now();
    await machine.run(600);
    expect(Math.min(...checksOf(machine.jobs.slice(0, 20), fromMs))).toBeGreaterThanOrEqual(58);
    expect(Math.max(...checksOf(machine.jobs.slice(20), fromMs))).toBeLessThan(45);
    expect(machine.pace.retryAfterSeconds('modest')).toBeUndefined();
  });

  test.each([
    { modest: 20, greedy: 60, intervalSeconds: 10 },
    { modest: 20, greedy: 60, intervalSeconds: 30 },
    { modest: 8, greedy: 112, intervalSeconds: 30 },
    { modest: 20, greedy: 60, intervalSeconds: 60 },
    { modest: 8, greedy: 112, intervalSeconds: 60 },
    { modest: 20, greedy: 60, intervalSeconds: 300 },
    { modest: 8, greedy: 112, intervalSeconds: 300 },
  ])(
    'the one that needs most has for hours what $modest others leave at $intervalSeconds s',
    async ({ modest: others, greedy, intervalSeconds }) => {
      const machine = openMachine();
      // 40 of them use the machine fully.
      const takesMs = intervalSeconds * 50;
      for (let job = 0; job < others; job += 1)
        machine.addJob(intervalSeconds, { caller: `modest-${job}`, takesMs });
      for (let job = 0; job < greedy; job += 1)
        machine.addJob(intervalSeconds, { caller: 'greedy', takesMs });
      await machine.run(40 * intervalSeconds);
      const fromMs = machine.now();
      await machine.run(60 * intervalSeconds);
      expect(Math.min(...checksOf(machine.jobs.slice(0, others), fromMs))).toBeGreaterThanOrEqual(59);
      const greedyChecks = checksOf(machine.jobs.slice(others), fromMs).reduce((sum, one) => sum + one, 0);
      expect(greedyChecks).toBeGreaterThan(0.85 * 60 * (40 - others));
    },
  );

  test('no caller is stretched beyond the maximum, and one that is stays a load until its next check', async () => {
    const machine = openMachine();
    for (const caller of ['ada', 'grace'])
      for (let job = 0; job < 13; job += 1) machine.addJob(60, { caller, takesMs: 3000 });
    for (let job = 0; job < 400; job += 1) machine.addJob(60, { caller: 'greedy', takesMs: 3000 });
    await machine.run(1800);
    const stretches: number[] = [];
    for (let minute = 0; minute < 60; minute += 1) {
      await machine.run(60);
      stretches.push(machine.pace.read().stretch);
    }
    expect(new Set(stretches)).toEqual(new Set([16]));
  });

  test('equal callers are stretched alike, and jobs that have ended count no longer', async () => {
    const machine = openMachine();
    for (const caller of ['ada', 'grace'])
      for (let job = 0; job < 40; job += 1) machine.addJob(10, { caller });
    await machine.run(180);
    const fromMs = machine.now();
    await machine.run(600);
    const [ada, grace] = [machine.jobs.slice(0, 40), machine.jobs.slice(40)].map((jobs) =>
      checksOf(jobs, fromMs).reduce((sum, checks) => sum + checks, 0),
    );
    expect(ada! / grace!).toBeGreaterThan(0.9);
    expect(ada! / grace!).toBeLessThan(1.1);
    for (const job of machine.jobs.slice(0, 40)) job.stopped = true;
    await machine.run(400);
    expect(machine.pace.read().stretch).toBe(1);
  });
});

test('intervals are shortened within five minutes once the jobs that needed too much have ended', async () => {
  const machine = openMachine();
  for (let job = 0; job < 240; job += 1) machine.addJob();
  await machine.run(180);
  expect(machine.pace.read().stretch).toBeGreaterThan(4);
  for (const job of machine.jobs.slice(20)) job.stopped = true;
  await machine.run(300);
  expect(machine.pace.read().stretch).toBe(1);
  expect(machine.pace.retryAfterSeconds('harbour')).toBeUndefined();
});

test('searches that wait behind checks stretch no interval and refuse no start', async () => {
  const machine = openMachine();
  for (let job = 0; job < 20; job += 1) machine.addJob();
  for (let call = 0; call < 60; call += 1) machine.search('harbour');
  await machine.run(300);
  expect(machine.pace.read()).toMatchObject({ stretch: 1, lateChecks: 0 });
  expect(machine.pace.retryAfterSeconds('harbour')).toBeUndefined();
});

test('jobs that have ended are no load that others wait for', () => {
  let nowMs = start.getTime();
  const ignore = () => undefined;
  const log = { debug: ignore, info: ignore, warning: ignore, error: ignore };
  const pace = createPace({ steadyNow: () => new Date(nowMs), log });
  for (let job = 0; job < 100; job += 1) pace.stretch({ run_id: `ended-${job}`, caller: 'harbour' }, 10);
  nowMs += 5000;
  for (let window = 0; window < 2; window += 1) {
    pace.record('decoder', 11_000);
    pace.stretch({ run_id: 'left', caller: 'harbour' }, 10);
    nowMs += 5000;
  }
  const { stretch } = pace.read();
  expect(stretch).toBeGreaterThan(1);
  expect(stretch).toBeLessThan(3);
});
