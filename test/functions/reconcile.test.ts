import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMonitor } from '../../core/operations/create-monitor.ts';
import { createHandler } from '../../functions/reconcile/handler.ts';
import { createWorld, monitorRequest } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { during, lambdaContext } from './lambda-context.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.close());

const handle = (event: unknown, remainingMs?: number) =>
  createHandler({ ...world.c, during })(event, lambdaContext(remainingMs));

/** As EventBridge sends them each minute, and when an execution changes its status. */
const eachMinute = { version: '0', 'detail-type': 'Scheduled Event', source: 'aws.events', detail: {} };
const ended = (jobId: string, generation: number, status: string) => ({
  version: '0',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: {
    executionArn: `arn:aws:states:eu-west-1:123456789012:execution:watchpost:${jobId}-${generation}`,
    stateMachineArn: 'arn:aws:states:eu-west-1:123456789012:stateMachine:watchpost',
    name: `${jobId}-${generation}`,
    status,
    input: null,
    output: null,
  },
});
const statusOf = async (jobId: string) => (await world.c.jobs.find(jobId))?.status;

async function running() {
  const { job_id } = await createMonitor(monitorRequest(), 'harbour', world.c);
  await world.begin({ job_id, generation: 0 });
  return job_id;
}

describe('reconcile, when an execution has ended', () => {
  test('fails the job that it left behind, once, however often it is told', async () => {
    const jobId = await running();
    world.executions.set(`${jobId}-0`, 'aborted');

    await handle(ended(jobId, 0, 'ABORTED'));
    await handle(ended(jobId, 0, 'ABORTED'));

    expect(await statusOf(jobId)).toBe('failed');
    expect(await world.c.jobs.newestEvents(jobId, 'job_stopped', 10)).toHaveLength(1);
  });

  test('leaves a job alone whose next generation runs', async () => {
    const jobId = await running();
    const job = (await world.c.jobs.find(jobId))!;
    await world.c.jobs.commit({
      jobId,
      from: ['running'],
      expectedSequence: job.sequence,
      set: { generation: 1 },
      events: [],
    });
    world.executions.set(`${jobId}-0`, 'aborted').set(`${jobId}-1`, 'running');

    await handle(ended(jobId, 0, 'SUCCEEDED'));

    expect(await statusOf(jobId)).toBe('running');
  });

  test('knows nothing to do for other state machines and jobs that are gone', async () => {
    await handle(ended('0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', 0, 'FAILED'));
    await handle({ ...ended('x', 0, 'FAILED'), detail: { name: 'nightly-report', status: 'FAILED' } });

    expect(world.logged).toEqual([]);
  });

  test('a repair that fails is thrown, so that Lambda tries again', async () => {
    const jobId = await running();
    world.c.executions = {
      ...world.c.executions,
      status: async () => Promise.reject(new Error('throttled')),
    };

    await expect(handle(ended(jobId, 0, 'FAILED'))).rejects.toThrow('throttled');
  });
});

describe('reconcile, each minute', () => {
  test('starts executions that are missing', async () => {
    const { job_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.executions.clear();
    world.advance(90);

    await handle(eachMinute);

    expect(world.executions.get(`${jobId}-0`)).toBe('running');
    expect(await statusOf(jobId)).toBe('pending');
  });

  test('begins no repair that its time is too short for', async () => {
    const { job_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.executions.clear();
    world.advance(90);

    await handle(eachMinute, 19_000);

    expect(world.executions.size).toBe(0);
    expect(await statusOf(jobId)).toBe('pending');
  });

  test('an event of another kind throws', async () => {
    await expect(handle({ 'detail-type': 'Something else' })).rejects.toThrow();
  });
});
