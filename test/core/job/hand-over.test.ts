import { beforeEach, describe, expect, test } from 'vitest';
import { rules } from '../../../core/rules.ts';
import { TransientError } from '../../../core/errors.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { repairDue, repairRun } from '../../../core/workflow/repair.ts';
import { analyzeTask, captureTask } from '../../../core/workflow/tasks.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { jobCalls } from '../../support/job-calls.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const { begun, stored } = jobCalls(() => world);

describe('a hand-over', () => {
  test('a hand-over keeps the state of the last capture until the first tick of the next generation is committed', async () => {
    const { jobId, last } = await handedOver();
    expect(last.capture).toMatchObject({ motion: 'looked', seen: { position: { segment: '1:/1.ts' } } });

    const next = await world.begin({ run_id: jobId, generation: 1 });
    const repeated = await world.begin({ run_id: jobId, generation: 1 });

    expect(next.capture).toEqual(last.capture);
    expect(repeated).toEqual(next);
    await world.tick(next);
    expect((await stored(jobId)).handed_over).toBeNull();
  });

  test('a last tick that runs twice concurrently hands its capture state over once', async () => {
    const { jobId, step } = await atLastTick();
    const input = await toInput(step);

    const [one, other] = await Promise.all([analyzeTask(input, world.c), analyzeTask(input, world.c)]);

    const { capture } = await world.begin({ run_id: jobId, generation: 1 });
    expect(capture).toMatchObject({ tick: rules.ticksPerExecution + 1, motion: 'looked' });
    expect([one, other]).toMatchObject([{ capture }, { capture }]);
    expect((await stored(jobId)).generation).toBe(1);
  });

  test('the next generation has the state of the last capture if reconcile repeats its start', async () => {
    const { start } = world.c.executions;
    world.c.executions.start = async (input) => {
      if (input.generation > 0) throw new TransientError('lost');
      return start(input);
    };
    const { jobId, step } = await atLastTick();
    await expect(world.tick(step)).rejects.toThrow(TransientError);
    world.c.executions.start = start;
    world.advance(rules.leaseMarginSeconds + 20);
    await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${jobId}-1`)).toBe('running');

    const next = await world.begin({ run_id: jobId, generation: 1 });

    expect(next.capture).toMatchObject({ motion: 'looked', seen: { position: { segment: '1:/1.ts' } } });
  });

  test('a job that is cancelled after a hand-over keeps no state of its last capture', async () => {
    const { jobId } = await handedOver();

    expect((await cancelJob(jobId, 'harbour', world.c)).handed_over).toBeNull();
  });

  test('a tick without a hand-over stores no motion reference', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    await world.tick(step);

    expect((await stored(jobId)).handed_over).toBeNull();
  });
});

test('a tick that comes late, after the next one, changes nothing', async () => {
  const { jobId, step } = await begun({ max_triggers: null });
  const late = await toInput(step);
  const next = await world.tick(await world.tick(step));
  const before = await stored(jobId);

  expect(await analyzeTask(late, world.c)).toMatchObject({ capture: { tick: next.capture.tick } });

  expect(await stored(jobId)).toEqual(before);
  expect(before.last_tick).toBe(2);
});

test('an execution that begins again knows the last capture, so that no picture is judged twice', async () => {
  const { jobId, step } = await begun({ max_triggers: null });
  const last = await world.tick(step);

  const again = await world.begin({ run_id: jobId, generation: 0 });

  expect(last.capture.seen).not.toBeNull();
  expect(again.capture.seen).toEqual(last.capture.seen);
});

describe('an earlier generation', () => {
  const close = (jobId: string, generation: number) => {
    const failure = { Error: 'States.Timeout', Cause: 'late' };
    return analyzeTask({ operation: 'close', run_id: jobId, generation, failure }, world.c);
  };

  test('the workflow of an earlier generation does not end the job if it fails after the hand-over', async () => {
    const { jobId } = await handedOver();

    expect(await close(jobId, 0)).toEqual({ run_id: jobId, done: true });

    expect(await stored(jobId)).toMatchObject({ status: 'running', generation: 1 });
    expect(world.executions.get(`${jobId}-1`)).toBe('running');
    await close(jobId, 1);
    expect(await stored(jobId)).toMatchObject({ status: 'failed', reason: 'internal_error' });
  });

  test('the workflow of an earlier generation starts the next execution if it fails at that start', async () => {
    const { jobId } = await handedOver();
    world.executions.delete(`${jobId}-1`);

    await close(jobId, 0);

    expect(world.executions.get(`${jobId}-1`)).toBe('running');
  });

  test('the workflow of an earlier generation starts no execution of an ended job', async () => {
    const { jobId } = await handedOver();
    world.executions.delete(`${jobId}-1`);
    await cancelJob(jobId, 'harbour', world.c);
    const before = await stored(jobId);
    world.executions.clear();

    await close(jobId, 0);

    expect(world.executions.size).toBe(0);
    expect(await stored(jobId)).toEqual(before);
  });

  test('the workflow of an earlier generation does not end the job if the hand-over is committed while it fails', async () => {
    const { jobId, step } = await atLastTick();
    const { commit } = world.c.runs;
    world.c.runs.commit = async (change) => {
      world.c.runs.commit = commit;
      await world.tick(step);
      return commit(change);
    };

    await close(jobId, 0);

    expect(await stored(jobId)).toMatchObject({
      status: 'running',
      generation: 1,
      last_tick: rules.ticksPerExecution,
    });
  });

  test('an earlier generation commits no tick after the hand-over', async () => {
    const { jobId } = await handedOver();
    const next = await world.begin({ run_id: jobId, generation: 1 });
    const before = await stored(jobId);

    expect(await world.tick({ ...next, generation: 0 })).toMatchObject({ done: true });

    expect(await stored(jobId)).toEqual(before);
  });

  test('a repair does not end the job if the hand-over is committed during the repair', async () => {
    const { jobId, step } = await atLastTick();
    world.executions.set(`${jobId}-0`, 'aborted');
    const { commit } = world.c.runs;
    world.c.runs.commit = async (change) => {
      world.c.runs.commit = commit;
      await world.tick(step);
      return commit(change);
    };

    await repairRun(jobId, world.c);

    expect(await stored(jobId)).toMatchObject({ status: 'running', generation: 1 });
  });
});

async function toInput({ run_id, generation, capture }: WorkflowState) {
  const captured = await captureTask(capture, world.c);
  return { operation: 'analyze' as const, run_id, generation, capture, captured };
}

/** A running job whose next tick is the last one of its generation. */
async function atLastTick() {
  const { jobId, step } = await begun({ max_triggers: null });
  const set = {
    last_tick: rules.ticksPerExecution - 1,
    execution_ticks: rules.ticksPerExecution - 1,
  };
  await world.c.jobs.commit({ runId: jobId, expectedVersion: 1, set, events: [] });
  return { jobId, step: { ...step, capture: { ...step.capture, tick: rules.ticksPerExecution } } };
}

async function handedOver() {
  const { jobId, step } = await atLastTick();
  return { jobId, last: await world.tick(step) };
}
