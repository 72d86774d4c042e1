import { beforeEach, describe, expect, test } from 'vitest';
import { rules } from '../../../core/rules.ts';
import { TransientError } from '../../../core/errors.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { repairDue, repairListed, repairRun } from '../../../core/workflow/repair.ts';
import { jobCalls } from '../../support/job-calls.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const { monitor, begun, stored, readTypes } = jobCalls(() => world);

test('reconcile publishes events that did not reach the queue, in order', async () => {
  const send = world.c.queue.send;
  world.c.queue.send = () => Promise.reject(new TransientError('queue is down'));
  const { jobId } = await begun({ webhook_url: 'https://example.com/hook' });
  await cancelJob(jobId, 'harbour', world.c);
  expect(world.queued).toEqual([]);
  world.c.queue.send = send;
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect(world.queued.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('reconcile renews the lease of a job whose execution it starts', async () => {
  const job = await monitor();
  world.executions.clear();
  world.advance(rules.startLeaseSeconds + 1);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  world.advance(60);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect(world.executions.get(`${job.run_id}-0`)).toBe('running');
  expect((await stored(job.run_id)).status).toBe('pending');
});

test('two concurrent sweeps start an execution that was lost before its start once', async () => {
  const { run_id: jobId } = await monitor();
  world.executions.clear();
  world.advance(rules.startLeaseSeconds + 60);
  const sweep = async () => repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  await Promise.all([sweep(), sweep()]);
  expect([...world.executions]).toEqual([[`${jobId}-0`, 'running']]);
  expect((await stored(jobId)).status).toBe('pending');
});

test('reconcile does not fail a job that is handed over during the repair', async () => {
  const { jobId } = await begun();
  world.advance(rules.leaseMarginSeconds + 20);
  const { status } = world.c.executions;
  world.c.executions.status = async (execution) => {
    const job = await stored(jobId);
    const set = { generation: 1 };
    const change = { runId: jobId, expectedVersion: job.version, set, events: [] };
    if (job.generation === 0) await world.c.jobs.commit(change);
    world.executions.set(`${jobId}-0`, 'aborted');
    return status(execution);
  };
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect((await stored(jobId)).status).toBe('running');
});

test('reconcile does not fail a job whose late tick is committed during the repair', async () => {
  const { jobId, step } = await begun({ max_triggers: null });
  const next = await world.tick(step);
  world.advance(rules.maxTickSeconds + 20);
  const { commit } = world.c.runs;
  world.c.runs.commit = async (change) => {
    world.c.runs.commit = commit;
    const set = { last_tick: 2, lease_until: next.wait_until.replace('2026', '2027') };
    await commit({ ...change, set: { ...set, sequence: 3 }, events: [] });
    return commit(change);
  };
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect((await stored(jobId)).status).toBe('running');
});

test('reconcile fails a job that is silent for longer than a tick may take, and not one that is late', async () => {
  const { jobId, step } = await begun();
  await world.tick(step);
  for (let sweeps = 0; sweeps < rules.maxTickSeconds / 600; sweeps += 1) {
    world.advance(600);
    await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('running');
  }
  world.advance(1200);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect(await stored(jobId)).toMatchObject({ status: 'failed', reason: 'internal_error' });
  expect(await readTypes(jobId)).toEqual(['job_started', 'progress', 'error', 'job_stopped']);
});

test('reconcile fails a job that never begins, and not one whose Begin is retried', async () => {
  const { run_id: jobId } = await monitor();
  world.advance(rules.startLeaseSeconds + 1);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect((await stored(jobId)).status).toBe('pending');
  world.advance(rules.maxTickSeconds);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect((await stored(jobId)).status).toBe('failed');
});

test('reconcile fails a job whose execution ended without it once its lease expired', async () => {
  const { jobId } = await begun();
  world.executions.set(`${jobId}-0`, 'aborted');
  world.advance(rules.leaseMarginSeconds + 1);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect((await stored(jobId)).status).toBe('failed');
});

test('reconcile inspects a late job once per lease, so that it delays no other job', async () => {
  const { jobId } = await begun();
  world.advance(rules.leaseMarginSeconds + 1);
  await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
  expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([]);
  world.advance(rules.leaseMarginSeconds + 1);
  expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([jobId]);
});

describe('with a list of running executions', () => {
  const useList = (running: string[]) => {
    const { executions } = world.c;
    const asked: string[] = [];
    world.c.executions = {
      ...executions,
      status: async ({ run_id, generation }) =>
        running.includes(`${run_id}-${generation}`) ? 'running' : 'not_running',
      start: async (input) => {
        asked.push(`${input.run_id}-${input.generation}`);
        return executions.start(input);
      },
    };
    return asked;
  };

  test('reconcile fails a job that the list lacks only if a start confirms that its execution has ended', async () => {
    const { jobId } = await begun();
    world.advance(rules.leaseMarginSeconds + 1);
    const asked = useList([]);
    world.executions.set(`${jobId}-0`, 'aborted');
    await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(asked).toEqual([`${jobId}-0`]);
    expect((await stored(jobId)).status).toBe('failed');
  });

  test('reconcile starts a missing execution that the list lacks, and extends the lease of its job', async () => {
    const { jobId } = await begun();
    world.advance(rules.leaseMarginSeconds + 1);
    useList([]);
    world.executions.clear();
    await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${jobId}-0`)).toBe('running');
    expect((await stored(jobId)).status).toBe('running');
    expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([]);
  });

  test('reconcile extends the lease of a job that the list has, without a start', async () => {
    const { jobId } = await begun();
    world.advance(rules.leaseMarginSeconds + 1);
    const asked = useList([`${jobId}-0`]);
    await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(asked).toEqual([]);
    expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([]);
  });

  test('reconcile leaves a job alone that committed after the list was made', async () => {
    const { jobId } = await begun();
    const asked = useList([]);
    await repairRun(jobId, world.c);
    expect(asked).toEqual([]);
    expect((await stored(jobId)).status).toBe('running');
  });
});

describe('after the end of an execution', () => {
  const refuseStatus = () => {
    world.c.executions = {
      ...world.c.executions,
      status: () => Promise.reject(new Error('The status was requested')),
    };
  };

  test('reconcile fails the job of the ended execution without a request for its status', async () => {
    const { jobId } = await begun();
    refuseStatus();
    await repairRun(jobId, world.c, { generation: 0, status: 'failed' });
    expect((await stored(jobId)).status).toBe('failed');
  });

  test('reconcile requests no status of a job whose next execution has begun its first burst', async () => {
    const { jobId } = await begun();
    await setFields(jobId, { generation: 1, burst: 1 });
    refuseStatus();
    await repairRun(jobId, world.c, { generation: 0, status: 'succeeded' });
    expect((await stored(jobId)).status).toBe('running');
  });

  test('reconcile starts the next execution if none has begun', async () => {
    const { jobId } = await begun();
    await setFields(jobId, { generation: 1, burst: 0 });
    await repairRun(jobId, world.c, { generation: 0, status: 'succeeded' });
    expect(world.executions.get(`${jobId}-1`)).toBe('running');
  });

  async function setFields(jobId: string, set: { generation: number; burst: number }) {
    const { version: expectedVersion } = await stored(jobId);
    await world.c.jobs.commit({ runId: jobId, expectedVersion, set, events: [] });
  }
});

test('repairs run concurrently up to their bound, and none begins after the end of the time', async () => {
  const jobs = await Promise.all(Array.from({ length: 6 }, () => monitor()));
  const ids = jobs.map(({ run_id: id }) => id);
  let running = 0;
  let most = 0;
  const { getIncludingEnded: get } = world.c.runs;
  world.c.runs.getIncludingEnded = async (...input) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return get(...input);
  };
  expect(await repairListed(ids, world.c, { atOnce: 3 })).toBe(6);
  expect(most).toBe(3);
  expect(await repairListed(ids, world.c, { atOnce: 3, endBy: world.c.now() })).toBe(0);
});
