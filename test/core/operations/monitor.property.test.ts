import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  MaxJobsReachedError,
  StreamEndedError,
  StreamFetchError,
  VisionError,
  JobAlreadyStoppedError,
} from '../../../core/errors.ts';
import type { JobEvent } from '../../../core/event.ts';
import type { Job } from '../../../core/job.ts';
import { createMonitor } from '../../../core/operations/create-monitor.ts';
import { cancelJob, failJob } from '../../../core/operations/end-job.ts';
import { reconcile } from '../../../core/operations/reconcile.ts';
import { isTerminal } from '../../../core/transitions.ts';
import type { Step } from '../../../core/workflow.ts';
import { createWorld, monitorRequest } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

/**
 * Random lives of several jobs of one caller: creations, ticks that trigger or do not, captures and models that fail, ticks that
 * are repeated, cancellations, crashes and time. After each step, what the contract promises must hold.
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
      kind: fc.constant('create' as const),
      cooldown: fc.constantFrom(0, 15, 60),
      maxTriggers: fc.constantFrom(1, 3, null),
      seconds: fc.integer({ min: 5, max: 120 }),
    }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('tick' as const), which, outcome }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat tick' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('reconcile' as const), after: fc.constantFrom(1, 400) }),
  },
);
type PlayStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

test('the contract holds over random lives of jobs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80 }), async (steps) => {
      const world = createWorld();
      try {
        await play(world, steps);
      } finally {
        world.close();
      }
    }),
    { numRuns: 150 },
  );
}, 120_000);

type Life = { job: Job; next: Step; before: Step | undefined; statuses: string[] };

async function play(world: World, steps: PlayStep[]): Promise<void> {
  const lives: Life[] = [];
  for (const step of steps) {
    await act(world, lives, step);
    await checkPromises(world, lives);
  }
}

async function act(world: World, lives: Life[], step: PlayStep): Promise<void> {
  if (step.kind === 'create') return create(world, lives, step);
  if (step.kind === 'reconcile') {
    world.advance(step.after);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 100 });
    return;
  }
  const life = lives[step.which % Math.max(lives.length, 1)];
  if (!life) return;
  if (step.kind === 'cancel') {
    await cancelJob(life.job.job_id, 'harbour', world.c).catch((error: unknown) =>
      expect(error).toBeInstanceOf(JobAlreadyStoppedError),
    );
  } else if (step.kind === 'close') await failJob(life.job.job_id, 'It broke.', world.c);
  else if (step.kind === 'repeat tick' && life.before) await repeatTick(world, life.job.job_id, life.before);
  else if (step.kind === 'tick' && !life.next.done) {
    prepare(world, step.outcome);
    life.before = life.next;
    life.next = await world.tick(life.next);
    Object.assign(world.script, { captures: [], verdicts: [], moved: [] });
  }
}

/** A task that ran already answers what was stored and changes nothing. */
async function repeatTick(world: World, jobId: string, before: Step): Promise<void> {
  const events = await world.c.jobs.events(jobId, 0, 1000);
  world.script.verdicts.push(true);
  await world.tick(before);
  world.script.verdicts.length = 0;
  expect(await world.c.jobs.events(jobId, 0, 1000)).toEqual(events);
}

async function create(
  world: World,
  lives: Life[],
  step: Extract<PlayStep, { kind: 'create' }>,
): Promise<void> {
  const active = await world.c.jobs.countActive('harbour');
  const request = monitorRequest({
    trigger_cooldown_seconds: step.cooldown,
    max_triggers: step.maxTriggers,
    monitor_duration_seconds: step.seconds,
    webhook_url: 'https://example.com/hook',
  });
  try {
    const job = await createMonitor(request, 'harbour', world.c);
    expect(active).toBeLessThan(10);
    expect(job.status).toBe('pending');
    const next = await world.begin({ job_id: job.job_id, generation: 0 });
    lives.push({ job, next, before: undefined, statuses: ['pending'] });
  } catch (error) {
    expect(error).toBeInstanceOf(MaxJobsReachedError);
    expect(active).toBe(10);
  }
}

function prepare({ script }: World, outcome: string): void {
  if (outcome === 'capture fails') script.captures.push(new StreamFetchError('Try again.'));
  if (outcome === 'ended') script.captures.push(new StreamEndedError());
  if (outcome === 'nothing moved') script.moved.push(false);
  if (outcome === 'model fails') script.verdicts.push(new VisionError('Try again.'));
  if (outcome === 'holds') script.verdicts.push(true);
}

/** The transition table of interface section 3. */
const allowed = new Set([
  'pending running',
  'pending stopped',
  'pending failed',
  'running completed',
  'running stopped',
  'running failed',
]);
const reasonsOf = {
  completed: ['condition_triggered', 'max_triggers_reached'],
  stopped: ['max_duration_reached', 'cancelled', 'stream_ended'],
  failed: ['stream_lost', 'vlm_error', 'internal_error'],
};

async function checkPromises({ c }: World, lives: Life[]): Promise<void> {
  const active: Job[] = [];
  for (const life of lives) {
    const job = await c.jobs.get(life.job.job_id, c.now());
    if (!job) continue;
    if (!isTerminal(job.status)) active.push(job);
    const before = life.statuses.at(-1);
    if (before !== job.status) {
      expect(allowed).toContain(`${before} ${job.status}`);
      life.statuses.push(job.status);
    }
    checkLog(job, await c.jobs.events(job.job_id, 0, 1000));
  }
  expect(active.length).toBeLessThanOrEqual(10);
  expect(await c.jobs.countActive('harbour')).toBe(active.length);
}

function checkLog(job: Job, events: JobEvent[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(job.sequence).toBe(events.length);
  const ends = events.flatMap(({ type }, index) => (type === 'job_stopped' ? [index] : []));
  expect(ends).toEqual(isTerminal(job.status) ? [events.length - 1] : []);
  if (isTerminal(job.status)) {
    expect(reasonsOf[job.status]).toContain(job.reason);
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(job.status === 'failed' ? 1 : 0);
  }
  const alerts = events
    .filter(({ type }) => type === 'watch_triggered')
    .map(({ timestamp }) => Date.parse(timestamp));
  expect(job.counters.triggers_fired).toBe(alerts.length);
  if (job.config.max_triggers !== null) expect(alerts.length).toBeLessThanOrEqual(job.config.max_triggers);
  alerts.slice(1).forEach((at, index) => {
    expect(at - (alerts[index] ?? 0)).toBeGreaterThanOrEqual(job.config.trigger_cooldown_seconds * 1000);
  });
  const ticks = events.flatMap((event) => (event.type === 'progress' ? [event.data.check] : []));
  expect(ticks).toEqual(ticks.map((_, index) => index + 1));
}
