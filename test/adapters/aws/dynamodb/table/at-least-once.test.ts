import { viewRuns } from '../../../../support/select-runs.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dynamoStores } from '../../../../../adapters/aws/dynamodb/stores.ts';
import { rules } from '../../../../../core/rules.ts';
import { JobAlreadyStoppedError } from '../../../../../core/errors.ts';
import { createMonitor } from '../../../../support/create-jobs.ts';
import { deliver } from '../../../../../core/delivery/deliver.ts';
import { cancelJob, failJob } from '../../../../../core/job/end-job.ts';
import { webhookKey, webhookMessage } from '../../../../contract/records.ts';
import { publishCommits, publishRun } from '../../../../../core/delivery/publish.ts';
import { repairDue } from '../../../../../core/workflow/repair.ts';
import { analyzeTask, captureTask } from '../../../../../core/workflow/tasks.ts';
import { isTerminal } from '../../../../../core/records/job.ts';
import type { WorkflowState } from '../../../../../core/records/workflow.ts';
import { createWorld, monitorRequest } from '../../../../support/world.ts';
import { withDynamoLocal } from '../dynamo-local.ts';

/**
 * Real behavior of SQS, EventBridge and Lambda: repeated, concurrent, late, reordered or missing calls. Runs the
 * operations of core on the table, each with its own dependencies, like separate functions.
 */
withDynamoLocal((makeTable) => {
  describe('tick', () => {
    test('a tick that runs twice concurrently counts once, and both runs return the same', async () => {
      const { world, step, jobId } = await createWatching();
      world.script.verdicts.push(true, true);
      const input = await toInput(world, step);

      const answers = await Promise.all([analyzeTask(input, world.c), analyzeTask(input, world.c)]);

      expect(answers[0]).toEqual(answers[1]);
      expect(await readTypes(world, jobId)).toEqual([
        'job_started',
        'progress',
        'watch_triggered',
        'job_stopped',
      ]);
      expect(await world.c.jobs.getIncludingEnded(jobId)).toMatchObject({
        status: 'completed',
        last_tick: 1,
        counters: { checks_performed: 1, triggers_fired: 1 },
      });
      expect(await world.c.jobs.usage()).toMatchObject({
        jobs_created: 1,
        jobs_completed: 1,
        triggers_fired: 1,
      });
      expect(await world.c.jobs.countActive('harbour')).toBe(0);
    });
  });

  describe('end of a job', () => {
    test('an end concurrent with a tick ends the job once, and nothing follows the final event', async () => {
      const { world, step, jobId } = await createWatching();
      const input = await toInput(world, step);

      const results = await Promise.allSettled([
        cancelJob(jobId, 'harbour', world.c),
        analyzeTask(input, world.c),
        cancelJob(jobId, 'harbour', world.c),
      ]);

      const cancelled = [results[0], results[2]];
      expect(cancelled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const refused = cancelled.find((result) => result.status === 'rejected');
      expect(refused?.reason).toBeInstanceOf(JobAlreadyStoppedError);
      await expectSound(world, jobId);
      expect(await world.c.jobs.getIncludingEnded(jobId)).toMatchObject({
        status: 'stopped',
        reason: 'cancelled',
      });
      expect(await world.c.jobs.usage()).toMatchObject({ jobs_created: 1, jobs_stopped: 1 });
    });
  });

  describe('delivery of an event', () => {
    test('an event that is delivered twice concurrently has one id and is skipped afterwards', async () => {
      const { world, jobId } = await alerted();
      const message = webhookMessage(jobId, 3);

      await Promise.all([deliver(message, world.c), deliver(message, world.c)]);
      const sent = world.sent.length;
      world.advance(1_800);
      await deliver(message, world.c);

      expect(new Set(world.sent.map(({ headers }) => headers['webhook-id']))).toEqual(
        new Set([`msg_${jobId}_3`]),
      );
      expect(world.sent).toHaveLength(sent);
      expect(await world.c.deliveries.get(webhookKey(jobId, 3))).toMatchObject({ state: 'delivered' });
    });

    test('events reach the queue in order, however often and from wherever the log is published', async () => {
      const { world, jobId } = await alerted();
      world.queued.length = 0;
      await forgetPublished(world, jobId);

      await Promise.all(Array.from({ length: 4 }, () => publishRun({ run: 'job', run_id: jobId }, world.c)));

      expect(firstOfEach(world.queued.map(({ sequence }) => sequence))).toEqual([1, 3, 4]);
      expect((await world.c.jobs.getIncludingEnded(jobId))?.published).toBe(4);
      expect(await world.c.jobs.dueForRepair(world.clock.now, 10)).toEqual([]);
    });

    test('an event that did not reach the queue is published by reconcile, also by two concurrent runs', async () => {
      const { world, jobId } = await alerted({ queueFails: true });
      expect(world.queued).toEqual([]);
      expect(await world.c.jobs.dueForRepair(world.clock.now, 10)).toEqual([jobId]);

      await Promise.all([sweep(world), sweep(world)]);

      expect(firstOfEach(world.queued.map(({ sequence }) => sequence))).toEqual([1, 3, 4]);
      expect(await world.c.jobs.dueForRepair(world.clock.now, 10)).toEqual([]);
    });
  });

  describe('reconcile', () => {
    test('a reconcile concurrent with a tick of a lost job either fails the job or changes nothing', async () => {
      const { world, step, jobId } = await createWatching({ monitor_duration_seconds: 86_400 });
      const input = await toInput(world, step);
      world.advance(rules.maxTickSeconds + 60);

      await Promise.allSettled([sweep(world), analyzeTask(input, world.c), sweep(world)]);

      await expectSound(world, jobId);
      const job = await world.c.jobs.getIncludingEnded(jobId);
      expect(['running', 'failed', 'completed']).toContain(job?.status);
      expect(job?.status === 'failed').toBe(world.executions.get(`${jobId}-0`) === 'aborted');
    });
  });

  // Hundreds of calls of the table: 3 s on an idle machine. Each run has other storms.
  test('repeated, concurrent and reordered calls leave a consistent log', async () => {
    const acts = [
      'begin',
      'tick',
      'late tick',
      'trigger',
      'cancel',
      'close',
      'publish',
      'reconcile',
    ] as const;
    const storms = fc.array(fc.array(fc.constantFrom(...acts), { minLength: 2, maxLength: 6 }), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(storms, async (storm) => {
        const { world, step: begun, jobId } = await createWatching();
        let step = begun;
        for (const atOnce of storm) {
          const [late, input] = [await toInput(world, begun), await toInput(world, step)];
          if (atOnce.includes('trigger')) world.script.verdicts.push(true);
          const runs = {
            begin: () => analyzeTask({ operation: 'begin', run_id: jobId, generation: 0 }, world.c),
            tick: () => analyzeTask(input, world.c),
            'late tick': () => analyzeTask(late, world.c),
            trigger: () => analyzeTask(input, world.c),
            cancel: () => cancelJob(jobId, 'harbour', world.c),
            close: () => failJob(jobId, 'It broke.', world.c),
            publish: () => publishRun({ run: 'job', run_id: jobId }, world.c),
            reconcile: () => sweep(world),
          };
          await Promise.allSettled(atOnce.map((act) => runs[act]()));
          await expectSound(world, jobId);
          step = toStep(await analyzeTask({ operation: 'begin', run_id: jobId, generation: 0 }, world.c));
          world.clock.now = new Date(Math.max(world.clock.now.getTime(), Date.parse(step.wait_until)));
          if (step.done) break;
        }
        await sweep(world);
        const due = (await world.c.jobs.events(jobId, 0, 1_000, new Date(0))).filter(
          ({ type }) => type !== 'progress',
        );
        expect(firstOfEach(world.queued.map(({ sequence }) => sequence))).toEqual(
          due.map(({ sequence }) => sequence),
        );
      }),
      { numRuns: 3 },
    );
  });

  async function onTable(): Promise<World> {
    const world = createWorld({ maxJobSeconds: 86_400 });
    const { runs, jobs, watches, callers, keys, deliveries } = dynamoStores({
      ...(await makeTable()),
      now: () => world.clock.now,
      retentionSeconds: 3_600,
    });
    const published = publishCommits(runs, world.c);
    Object.assign(world.c, {
      ...viewRuns({ runs: published, jobs, watches }),
      callers,
      keys,
      deliveries,
    });
    return world;
  }

  async function accepted(fields: Record<string, unknown> = {}) {
    const world = await onTable();
    const webhook = { webhook_url: 'https://receiver.example/hook' };
    const { run_id: jobId } = await createMonitor(
      monitorRequest({ ...webhook, ...fields }),
      'harbour',
      world.c,
    );
    return { world, jobId };
  }

  async function createWatching(fields: Record<string, unknown> = {}) {
    const { world, jobId } = await accepted(fields);
    return { world, jobId, step: await world.begin({ run_id: jobId, generation: 0 }) };
  }

  /** Creates a job that ended with its first alert: job_started, progress, watch_triggered, job_stopped. */
  async function alerted({ queueFails = false } = {}) {
    const { world, jobId } = await accepted();
    const { queue } = world.c;
    if (queueFails) world.c.queue = { send: () => Promise.reject(new Error('The queue is gone')) };
    world.script.verdicts.push(true);
    await world.tick(await world.begin({ run_id: jobId, generation: 0 }));
    world.c.queue = queue;
    return { world, jobId };
  }

  /** Resets the mark, as if it had been lost. */
  async function forgetPublished(world: World, jobId: string): Promise<void> {
    const { getIncludingEnded: find } = world.c.runs;
    let reads = 0;
    world.c.runs.getIncludingEnded = async (id) => {
      const job = await find(id);
      reads += 1;
      return job && reads <= 4 && id === jobId ? { ...job, published: 0 } : job;
    };
  }
});

type World = ReturnType<typeof createWorld>;

async function toInput(world: World, step: WorkflowState) {
  const captured = await captureTask(step.capture, world.c);
  const { run_id, generation, capture } = step;
  return { operation: 'analyze' as const, run_id, generation, capture, captured };
}

function toStep(answer: Awaited<ReturnType<typeof analyzeTask>>): WorkflowState {
  if (!('capture' in answer)) throw new Error('The task closed the job');
  return answer;
}

function sweep(world: World): Promise<number> {
  return repairDue(world.c, { dueBy: world.c.now(), limit: 100 });
}

async function readTypes(world: World, jobId: string) {
  return (await world.c.jobs.events(jobId, 0, 1_000, new Date(0))).map(({ type }) => type);
}

function firstOfEach(sequences: number[]): number[] {
  return [...new Set(sequences)];
}

/** Requires a log without gaps, with one start and nothing after its end, and matching slots and totals. */
async function expectSound(world: World, jobId: string): Promise<void> {
  const job = await world.c.jobs.getIncludingEnded(jobId);
  const events = await world.c.jobs.events(jobId, 0, 1_000, new Date(0));
  const types = events.map(({ type }) => type);
  const checks = events.flatMap((event) => (event.type === 'progress' ? [event.data.check] : []));
  const ended = job !== undefined && isTerminal(job.status);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(job?.sequence).toBe(events.length);
  expect(types.filter((type) => type === 'job_started')).toHaveLength(1);
  expect(types.filter((type) => type === 'job_stopped')).toHaveLength(ended ? 1 : 0);
  expect(types.at(-1) === 'job_stopped').toBe(ended);
  expect(checks).toEqual([...new Set(checks)]);
  expect(await world.c.jobs.countActive('harbour')).toBe(ended ? 0 : 1);
  const usage = await world.c.jobs.usage();
  expect(usage.jobs_completed + usage.jobs_stopped + usage.jobs_failed).toBe(ended ? 1 : 0);
  expect(usage).toMatchObject({ jobs_created: 1, checks_performed: job?.counters.checks_performed });
}
