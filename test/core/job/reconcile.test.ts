import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rules } from '../../../core/rules.ts';
import { TransientError } from '../../../core/errors.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { reconcile } from '../../../core/job/reconcile.ts';
import { jobCalls } from '../../support/job-calls.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.close());

const { monitor, begun, stored, readTypes } = jobCalls(() => world);

describe('reconcile', () => {
  test('reconcile publishes events that did not reach the queue, in order', async () => {
    const send = world.c.queue.send;
    world.c.queue.send = () => Promise.reject(new TransientError('queue is down'));
    const { jobId } = await begun({ webhook_url: 'https://example.com/hook' });
    await cancelJob(jobId, 'harbour', world.c);
    expect(world.queued).toEqual([]);
    world.c.queue.send = send;
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.queued.map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  test('reconcile renews the lease of a job whose execution it starts', async () => {
    const job = await monitor();
    world.executions.clear();
    world.advance(rules.startLeaseSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    world.advance(60);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${job.job_id}-0`)).toBe('running');
    expect((await stored(job.job_id)).status).toBe('pending');
  });

  test('reconcile does not fail a job that is handed over during the repair', async () => {
    const { jobId } = await begun();
    world.advance(rules.leaseMarginSeconds + 20);
    const { status } = world.c.executions;
    world.c.executions.status = async (execution) => {
      const job = await stored(jobId);
      const set = { generation: 1 };
      const change = { jobId, from: [job.status], expectedSequence: job.sequence, set, events: [] };
      if (job.generation === 0) await world.c.jobs.commit(change);
      world.executions.set(`${jobId}-0`, 'aborted');
      return status(execution);
    };
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('running');
  });

  test('reconcile does not fail a job whose late tick is committed during the repair', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    const next = await world.tick(step);
    world.advance(rules.maxTickSeconds + 20);
    const { commit } = world.c.jobs;
    world.c.jobs.commit = async (change) => {
      world.c.jobs.commit = commit;
      const set = { last_tick: 2, lease_until: next.wait_until.replace('2026', '2027') };
      await commit({ ...change, from: ['running'], set: { ...set, sequence: 3 }, events: [] });
      return commit(change);
    };
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('running');
  });

  test('reconcile fails a job that is silent for longer than a tick may take, and not one that is late', async () => {
    const { jobId, step } = await begun();
    await world.tick(step);
    for (let sweeps = 0; sweeps < rules.maxTickSeconds / 600; sweeps += 1) {
      world.advance(600);
      await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
      expect((await stored(jobId)).status).toBe('running');
    }
    world.advance(1200);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(await stored(jobId)).toMatchObject({ status: 'failed', reason: 'internal_error' });
    expect(await readTypes(jobId)).toEqual(['job_started', 'progress', 'error', 'job_stopped']);
  });

  test('reconcile fails a job that never begins, and not one whose Begin is retried', async () => {
    const { job_id: jobId } = await monitor();
    world.advance(rules.startLeaseSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('pending');
    world.advance(rules.maxTickSeconds);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('failed');
  });

  test('reconcile fails a job whose execution ended without it once its lease expired', async () => {
    const { jobId } = await begun();
    world.executions.set(`${jobId}-0`, 'aborted');
    world.advance(rules.leaseMarginSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('failed');
  });

  test('reconcile inspects a late job once per lease, so that it delays no other job', async () => {
    const { jobId } = await begun();
    world.advance(rules.leaseMarginSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([]);
    world.advance(rules.leaseMarginSeconds + 1);
    expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([jobId]);
  });
});
