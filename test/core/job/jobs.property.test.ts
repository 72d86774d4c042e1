import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  MaxJobsReachedError,
  StreamEndedError,
  StreamFetchError,
  JobAlreadyStoppedError,
} from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import type { JobEvent } from '../../../core/records/event.ts';
import { computeCoverage, watchSeconds } from '../../../core/policies/job/coverage.ts';
import { createDigest, createMonitor } from '../../support/create-jobs.ts';
import { cancelJob, failJob } from '../../../core/job/end-job.ts';
import { repairDue } from '../../../core/workflow/repair.ts';
import { isTerminal, type Job, type JobOf } from '../../../core/records/job.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { createWorld, digestRequest, monitorRequest, type World } from '../../support/world.ts';

/**
 * Random lives of several monitors and digests of one caller: creations, ticks that trigger or do not, captures and
 * models that fail, ticks that are repeated, cancellations, crashes, time, and a wall clock that is set forward and
 * back. After each step, what the contract promises must hold.
 */

/** Mostly the same few jobs, so that lives are long enough to have several alerts. */
const which = fc.oneof({ weight: 4, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(20) });
const outcome = fc.constantFrom(
  'holds',
  'does not hold',
  'nothing moved',
  'model fails',
  'capture fails',
  'ended',
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('create monitor' as const),
      cooldown: fc.constantFrom(0, 15, 60),
      maxTriggers: fc.constantFrom(1, 3, null),
      seconds: fc.integer({ min: 5, max: 120 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('create digest' as const),
      windowMinutes: fc.constantFrom(1, 3),
      intervalSeconds: fc.integer({ min: 10, max: 90 }),
      maxWindows: fc.constantFrom(1, 2, null),
    }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('tick' as const), which, outcome }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat tick' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('step clock' as const),
      seconds: fc.constantFrom(-7200, -600, -20, -3, 3, 600),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('reconcile' as const), after: fc.constantFrom(1, 130, 400) }),
  },
);
type PlayStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

test('the contract holds over random lives of jobs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80 }), async (steps) => {
      const world = createWorld();
      await play(world, steps);
    }),
    { numRuns: 150 },
  );
}, 120_000);

type Life = {
  job: Job;
  next: WorkflowState;
  before: WorkflowState | undefined;
  statuses: string[];
  /** Seconds from the start of the job to each of its alerts: what no step of the clock changes. */
  alertedAfter: number[];
  /** Sequence of the newest check that was compared with its alert: a tick of a job that was cancelled adds none. */
  notedSequence: number;
  /** True if the wall clock was set back during the job: the times of its log then come from several clocks. */
  setBack: boolean;
};

async function play(world: World, steps: PlayStep[]): Promise<void> {
  const lives: Life[] = [];
  for (const step of steps) {
    await act(world, lives, step);
    await checkPromises(world, lives);
  }
}

async function act(world: World, lives: Life[], step: PlayStep): Promise<void> {
  if (step.kind === 'create monitor' || step.kind === 'create digest') return create(world, lives, step);
  if (step.kind === 'reconcile') {
    world.advance(step.after);
    await repairDue(world.c, { dueBy: world.c.now(), limit: 100 });
    return;
  }
  if (step.kind === 'step clock') {
    world.stepClock(step.seconds);
    if (step.seconds < 0) for (const life of lives) life.setBack = true;
    return;
  }
  const life = lives[step.which % Math.max(lives.length, 1)];
  if (!life) return;
  if (step.kind === 'cancel') {
    await cancelJob(life.job.run_id, 'harbour', world.c).catch((error: unknown) =>
      expect(error).toBeInstanceOf(JobAlreadyStoppedError),
    );
  } else if (step.kind === 'close') await failJob(life.job.run_id, 'It broke.', world.c);
  else if (step.kind === 'repeat tick' && life.before) await repeatTick(world, life.job.run_id, life.before);
  else if (step.kind === 'tick' && !life.next.done) {
    prepare(world, step.outcome);
    const stored = await world.c.jobs.getIncludingEnded(life.job.run_id);
    life.before = life.next;
    life.next = await world.tick(life.next);
    await noteAlert(world, life, step.outcome, stored?.last_tick ?? 0);
    Object.assign(world.script, { captures: [], verdicts: [], summaries: [], moved: [] });
  }
}

/**
 * Requires an alert for a verdict that holds, unless the cooldown runs: a clock that is set back neither prolongs it
 * nor ends it. A tick after the end of its job commits nothing: the newest progress event is that of the tick before.
 */
async function noteAlert({ c }: World, life: Life, outcome: string, previousTick: number): Promise<void> {
  const job = await c.jobs.getIncludingEnded(life.job.run_id);
  if (job?.last_tick === previousTick) return;
  const events = await c.jobs.events(life.job.run_id, 0, 1000, new Date(0));
  const progress = events.findLast(({ type }) => type === 'progress');
  if (job?.policy !== 'monitor' || progress?.type !== 'progress') return;
  if (progress.sequence <= life.notedSequence) return;
  life.notedSequence = progress.sequence;
  if (progress.data.check !== job.last_tick || progress.data.triggered === null) return;
  const seconds = (Date.parse(progress.timestamp) - Date.parse(job.started_at ?? '')) / 1000;
  const cooled = seconds - (life.alertedAfter.at(-1) ?? -Infinity) >= job.config.trigger_cooldown_seconds;
  const alerts = events[progress.sequence]?.type === 'watch_triggered';
  expect(alerts).toBe(outcome === 'holds' && cooled);
  if (alerts) life.alertedAfter.push(seconds);
}

/** A task that ran already answers what was stored and changes nothing. */
async function repeatTick(world: World, jobId: string, before: WorkflowState): Promise<void> {
  const events = await world.c.jobs.events(jobId, 0, 1000, new Date(0));
  world.script.verdicts.push(true);
  await world.tick(before);
  world.script.verdicts.length = 0;
  expect(await world.c.jobs.events(jobId, 0, 1000, new Date(0))).toEqual(events);
}

type Creation = Extract<PlayStep, { kind: 'create monitor' | 'create digest' }>;

async function create(world: World, lives: Life[], step: Creation): Promise<void> {
  const active = await world.c.jobs.countActive('harbour');
  try {
    const job = await accept(world, step);
    expect(active).toBeLessThan(10);
    expect(job.status).toBe('pending');
    const next = await world.begin({ run_id: job.run_id, generation: 0 });
    lives.push({
      job,
      next,
      before: undefined,
      statuses: ['pending'],
      alertedAfter: [],
      notedSequence: 0,
      setBack: false,
    });
  } catch (error) {
    expect(error).toBeInstanceOf(MaxJobsReachedError);
    expect(active).toBe(10);
  }
}

function accept({ c }: World, step: Creation): Promise<Job> {
  const webhook = { webhook_url: 'https://example.com/hook' };
  if (step.kind === 'create digest') {
    const fields = {
      window_minutes: step.windowMinutes,
      capture_interval_seconds: step.intervalSeconds,
      max_windows: step.maxWindows,
      include_frames: true,
    };
    return createDigest(digestRequest({ ...fields, ...webhook }), 'harbour', c);
  }
  const fields = {
    trigger_cooldown_seconds: step.cooldown,
    max_triggers: step.maxTriggers,
    monitor_duration_seconds: step.seconds,
  };
  return createMonitor(monitorRequest({ ...fields, ...webhook }), 'harbour', c);
}

function prepare({ script }: World, outcome: string): void {
  if (outcome === 'capture fails') script.captures.push(new StreamFetchError('Try again.'));
  if (outcome === 'ended') script.captures.push(new StreamEndedError());
  if (outcome === 'nothing moved') script.moved.push(false);
  if (outcome === 'model fails') {
    script.verdicts.push(new VisionError('Try again.'));
    script.summaries.push(new VisionError('Try again.'));
  }
  if (outcome === 'holds') script.verdicts.push(true);
}

/** Transitions of the status of a job (`I-3.…`). */
const allowed = new Set([
  'pending running',
  'pending stopped',
  'pending failed',
  'running completed',
  'running stopped',
  'running failed',
]);
const reasonsByJob = {
  completed: ['condition_triggered', 'max_triggers_reached'],
  stopped: ['max_duration_reached', 'max_windows_reached', 'cancelled', 'stream_ended'],
  failed: ['stream_lost', 'vlm_error', 'internal_error'],
};

async function checkPromises({ c }: World, lives: Life[]): Promise<void> {
  const active: Job[] = [];
  for (const life of lives) {
    const job = await c.jobs.get(life.job.run_id, c.now());
    if (!job) continue;
    if (!isTerminal(job.status)) active.push(job);
    checkCoverage(job, c.now(), life.setBack);
    const before = life.statuses.at(-1);
    if (before !== job.status) {
      expect(allowed).toContain(`${before} ${job.status}`);
      life.statuses.push(job.status);
    }
    checkLog(job, await c.jobs.events(job.run_id, 0, 1000, new Date(0)), life.setBack);
  }
  expect(active.length).toBeLessThanOrEqual(10);
  expect(await c.jobs.countActive('harbour')).toBe(active.length);
}

/**
 * Watched time and gaps are the time from the start to the deadline at most, and the gaps are apart from each other.
 */
function checkCoverage(job: Job, now: Date, setBack: boolean): void {
  const { watched_seconds: watched, gap_seconds: gapSeconds, gaps } = computeCoverage(job, now);
  if (setBack) return;
  expect(watched + gapSeconds).toBeCloseTo(watchSeconds(job, now), 2);
  if (gaps.length === 0) return;
  const times = [job.started_at!, ...gaps.flatMap(({ from, to }) => [from, to]), job.deadline!];
  expect(times).toEqual(times.toSorted());
}

function checkLog(job: Job, events: JobEvent[], setBack: boolean): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(job.sequence).toBe(events.length);
  const ends = events.flatMap(({ type }, index) => (type === 'job_stopped' ? [index] : []));
  expect(ends).toEqual(isTerminal(job.status) ? [events.length - 1] : []);
  if (isTerminal(job.status)) {
    expect(reasonsByJob[job.status]).toContain(job.reason);
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(job.status === 'failed' ? 1 : 0);
  }
  const ticks = events.flatMap((event) => (event.type === 'progress' ? [event.data.check] : []));
  expect(ticks).toEqual([...new Set(ticks)].toSorted((a, b) => a - b));
  if (job.policy === 'monitor') checkAlerts(job, events);
  else if (job.policy === 'digest') checkSummaries(job, events, setBack);
}

function checkAlerts({ counters, config }: JobOf<'monitor'>, events: JobEvent[]): void {
  const alerts = events.filter(({ type }) => type === 'watch_triggered');
  expect(counters.triggers_fired).toBe(alerts.length);
  if (config.max_triggers !== null) expect(alerts.length).toBeLessThanOrEqual(config.max_triggers);
  const ticks = events.flatMap((event) => (event.type === 'progress' ? [event.data.check] : []));
  expect(ticks).toEqual(ticks.map((_, index) => index + 1));
}

/** One summary a window, end to end from the start; no end leaves anything untold. */
function checkSummaries(job: JobOf<'digest'>, events: JobEvent[], setBack: boolean): void {
  const summaries = events.flatMap((event) => (event.type === 'summary_generated' ? [event.data] : []));
  expect(summaries.map(({ window_index: index }) => index)).toEqual(summaries.map((_, at) => at + 1));
  expect(job.state.summarized).toBe(summaries.length);
  const ends = summaries.map(({ window_end: end }) => end);
  if (!setBack)
    expect(summaries.map(({ window_start: start }) => start)).toEqual(
      [job.started_at, ...ends].slice(0, ends.length),
    );
  summaries.forEach((summary, at) => {
    const seconds = (Date.parse(summary.window_end) - Date.parse(summary.window_start)) / 1000;
    if (summary.partial) expect(at).toBe(summaries.length - 1);
    else expect(seconds).toBe(job.config.window_minutes * 60);
  });
  const { max_windows: maxWindows } = job.config;
  if (maxWindows !== null) expect(summaries.length).toBeLessThanOrEqual(maxWindows);
  if (job.reason === 'max_windows_reached') expect(summaries.length).toBe(maxWindows);
  if (isTerminal(job.status) && job.started_at !== null) {
    if (!setBack) expect(ends.at(-1) ?? job.started_at).toBe(job.state.end?.at);
    expect(sum(summaries.map(({ frames_captured: count }) => count))).toBe(job.counters.frames_captured);
    expect(sum(summaries.map(({ frames_skipped: count }) => count))).toBe(job.counters.frames_skipped);
  }
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
