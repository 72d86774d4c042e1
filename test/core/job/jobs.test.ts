import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rules } from '../../../core/rules.ts';
import {
  InvalidInputModeError,
  JobAlreadyStoppedError,
  JobNotFoundError,
  MaxJobsReachedError,
  NotLiveError,
  RateLimitedError,
  StreamFetchError,
  TransientError,
  VisionError,
} from '../../../core/errors.ts';
import { jobSchema } from '../../../core/records/job.ts';
import { createMonitor } from '../../../core/job/create-monitor.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { getJob, listJobs } from '../../../core/job/read-jobs.ts';
import { reconcile, repairJob } from '../../../core/job/reconcile.ts';
import { analyzeTask } from '../../../core/workflow/tasks.ts';
import type { JobChange } from '../../../core/ports/job-store.ts';
import { createWorld, monitorRequest } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.close());

const monitor = (fields: Record<string, unknown> = {}) =>
  createMonitor(monitorRequest(fields), 'harbour', world.c);
const begun = async (fields: Record<string, unknown> = {}) => {
  const job = await monitor(fields);
  return { jobId: job.job_id, step: await world.begin({ job_id: job.job_id, generation: 0 }) };
};
const stored = async (jobId: string) => (await getJob(jobId, 'harbour', world.c)).job;
const readTypes = async (jobId: string) => (await world.c.jobs.events(jobId, 0, 100)).map(({ type }) => type);

describe('creating a monitor', () => {
  test('stores it as pending, takes a slot and starts its execution', async () => {
    const job = await monitor();
    expect(job).toMatchObject({ status: 'pending', job_type: 'live-monitor' });
    expect(await world.c.jobs.countActive('harbour')).toBe(1);
    expect(world.executions.get(`${job.job_id}-0`)).toBe('running');
  });

  test('masks the password everywhere but in the source', async () => {
    const job = await monitor({ stream_url: 'rtsp://viewer:sec@ret@camera.test/yard' });
    expect(job.stream_url).toBe('rtsp://viewer:***@camera.test/yard');
    expect((await world.c.jobs.source(job.source_id))?.url).toBe('rtsp://viewer:sec@ret@camera.test/yard');
    expect(world.logged.join()).not.toContain('ret@');
  });

  test('clamps the duration to the server cap, visibly', async () => {
    expect((await monitor({ monitor_duration_seconds: 9000 })).config.monitor_duration_seconds).toBe(600);
  });

  test('of a stream that is not live stores nothing', async () => {
    world.script.probe = new NotLiveError('Give a live URL.');
    await expect(monitor()).rejects.toThrow(NotLiveError);
    expect((await listJobs({ caller: 'harbour', limit: 20, offset: 0 }, world.c)).total).toBe(0);
    expect(await world.c.jobs.countActive('harbour')).toBe(0);
  });

  test('beyond ten active jobs is refused, also when all come at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 15 }, () => monitor()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(monitor()).rejects.toThrow(MaxJobsReachedError);
    await createMonitor(monitorRequest(), 'another caller', world.c);
  });

  test('fifteen concurrent creations probe ten streams, and slots of refused streams are free again', async () => {
    const refusals: (() => void)[] = [];
    world.c.streams.probe = () =>
      new Promise((_, reject) => refusals.push(() => reject(new NotLiveError('Give a live URL.'))));

    const creations = Promise.allSettled(Array.from({ length: 15 }, () => monitor()));
    await new Promise((resolve) => setImmediate(resolve));

    expect(refusals).toHaveLength(10);
    for (const refuse of refusals) refuse();
    const errors = (await creations).map((result) => result.status === 'rejected' && result.reason.code);
    expect(errors.filter((code) => code === 'MAX_JOBS_REACHED')).toHaveLength(5);
    world.c.streams.probe = async (url) => ({ platform: 'hls', playbackUrl: url });
    await Promise.all(Array.from({ length: 10 }, () => monitor()));
  });

  test('a slot that cannot be released hides no error, and expires', async () => {
    world.script.probe = new NotLiveError('Give a live URL.');
    const jobs = { ...world.c.jobs, releaseSlot: () => Promise.reject(new TransientError('disk full')) };
    const c = { ...world.c, jobs, limits: { ...world.c.limits, jobsPerCaller: 1 } };
    const create = () => createMonitor(monitorRequest(), 'harbour', c);
    await expect(create()).rejects.toThrow(NotLiveError);
    world.script.probe = undefined;
    await expect(create()).rejects.toThrow(MaxJobsReachedError);

    world.advance(rules.slotReservationSeconds);
    await create();
  });

  test('a creation without a turn to probe its stream is refused, and frees its slot', async () => {
    const c = {
      ...world.c,
      turns: { take: async () => undefined },
      limits: { ...world.c.limits, jobsPerCaller: 1 },
    };
    const create = () => createMonitor(monitorRequest(), 'harbour', c);
    await expect(create()).rejects.toThrow(RateLimitedError);
    await expect(create()).rejects.toThrow(RateLimitedError);
  });

  test('in clip mode needs a model that takes video; left out, the mode becomes what the model takes', async () => {
    const imagesOnly = { ...world.c, vision: { ...world.c.vision, supportsVideo: false } };
    await expect(
      createMonitor(monitorRequest({ input_mode: 'clip' }), 'harbour', imagesOnly),
    ).rejects.toThrow(InvalidInputModeError);
    expect((await createMonitor(monitorRequest(), 'harbour', imagesOnly)).config.input_mode).toBe('frames');
    expect((await monitor()).config.input_mode).toBe('clip');
  });

  test('survives a start that is lost: reconcile makes up for it', async () => {
    const lost = {
      ...world.c,
      executions: { ...world.c.executions, start: () => Promise.reject(new TransientError('lost')) },
    };
    const job = await createMonitor(monitorRequest(), 'harbour', lost);
    expect(world.executions.size).toBe(0);
    world.advance(rules.startLeaseSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${job.job_id}-0`)).toBe('running');
  });
});

describe('a tick', () => {
  test('whose commit took effect and whose reply was lost is not done twice', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    let judged = 0;
    const { commit } = world.c.jobs;
    const losing = {
      jobs: { ...world.c.jobs, commit: losesReplyOnce(commit) },
      vision: {
        ...world.c.vision,
        judge: async () => {
          judged += 1;
          return {
            triggered: true,
            explanation: 'It is there.',
            tokens: { input_tokens: 1, output_tokens: 1 },
          };
        },
      },
    };
    Object.assign(world.c, losing);
    await expect(world.tick(step)).rejects.toThrow(TransientError);
    const next = await world.tick(step);
    expect(judged).toBe(1);
    expect(next.capture.tick).toBe(2);
    expect(await readTypes(jobId)).toEqual(['job_started', 'progress', 'watch_triggered']);
  });

  test('that meets a cancellation changes nothing after the end', async () => {
    const { jobId, step } = await begun();
    await cancelJob(jobId, 'harbour', world.c);
    expect(await world.tick(step)).toMatchObject({ done: true });
    expect(await readTypes(jobId)).toEqual(['job_started', 'job_stopped']);
  });

  test('carries the motion reference on only when the model looked', async () => {
    const { step } = await begun({ max_triggers: null });
    const afterLook = await world.tick(step);
    expect(afterLook.capture.motion).toBe('looked');
    world.script.moved.push(false);
    expect((await world.tick(afterLook)).capture.motion).toBe('skipped');
    world.script.verdicts.push(new VisionError('Try again.'));
    expect((await world.tick(afterLook)).capture.motion).toBe('skipped');
  });

  test('after a failed capture asks for the URL to be resolved anew', async () => {
    const { step } = await begun();
    world.script.captures.push(new StreamFetchError('Try again.'));
    const next = await world.tick(step);
    expect(next.capture.resolve_again).toBe(true);
    expect((await world.tick(next)).capture.resolve_again).toBe(false);
  });

  test('number 1000 hands over to the next generation, which goes on where it left', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    await world.c.jobs.commit({
      jobId,
      from: ['running'],
      expectedSequence: 1,
      set: { last_tick: 999 },
      events: [],
    });
    const last = await world.tick({ ...step, capture: { ...step.capture, tick: 1000 } });
    expect(last.done).toBe(true);
    expect(world.executions.get(`${jobId}-1`)).toBe('running');
    const resumed = await world.begin({ job_id: jobId, generation: 1 });
    expect(resumed).toMatchObject({ done: false, wait_until: last.wait_until, capture: { tick: 1001 } });
    expect(await world.begin({ job_id: jobId, generation: 0 })).toMatchObject({ done: true });
  });
});

describe('a hand-over', () => {
  test('hands the state of the last capture to the next generation until its first tick is committed', async () => {
    const { jobId, last } = await handedOver();
    expect(last.capture).toMatchObject({ motion: 'looked', seen: { position: { segment: '1:/1.ts' } } });

    const next = await world.begin({ job_id: jobId, generation: 1 });
    const repeated = await world.begin({ job_id: jobId, generation: 1 });

    expect(next.capture).toEqual(last.capture);
    expect(repeated).toEqual(next);
    await world.tick(next);
    expect((await stored(jobId)).handed_over).toBeNull();
  });

  test('hands the state over if the start of the next generation is lost and reconcile repeats it', async () => {
    const { start } = world.c.executions;
    world.c.executions.start = async (input) => {
      if (input.generation > 0) throw new TransientError('lost');
      return start(input);
    };
    const { jobId, step } = await atTick1000();
    await expect(world.tick(step)).rejects.toThrow(TransientError);
    world.c.executions.start = start;
    world.advance(rules.leaseMarginSeconds + 20);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${jobId}-1`)).toBe('running');

    const next = await world.begin({ job_id: jobId, generation: 1 });

    expect(next.capture).toMatchObject({ motion: 'looked', seen: { position: { segment: '1:/1.ts' } } });
  });

  test('begins without a state if an earlier release stored the job', async () => {
    const { jobId } = await handedOver();
    const { get } = world.c.jobs;
    world.c.jobs.get = async (...given) => {
      const { handed_over: _, ...earlier } = (await get(...given))!;
      return jobSchema.parse(earlier);
    };

    const next = await world.begin({ job_id: jobId, generation: 1 });

    expect(next.capture).toMatchObject({ tick: 1001, seen: null, motion: null });
  });

  test('leaves no state in a job that is cancelled before its next tick', async () => {
    const { jobId } = await handedOver();

    expect((await cancelJob(jobId, 'harbour', world.c)).handed_over).toBeNull();
  });

  test('stores no state at any other tick', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    await world.tick(step);

    expect((await stored(jobId)).handed_over).toBeNull();
  });
});

describe('an earlier generation', () => {
  const close = (jobId: string, generation: number) => {
    const failure = { Error: 'States.Timeout', Cause: 'late' };
    return analyzeTask({ operation: 'close', job_id: jobId, generation, failure }, world.c);
  };

  test('does not end the job if its workflow fails after the hand-over', async () => {
    const { jobId } = await handedOver();

    expect(await close(jobId, 0)).toEqual({ job_id: jobId, done: true });

    expect(await stored(jobId)).toMatchObject({ status: 'running', generation: 1 });
    expect(world.executions.get(`${jobId}-1`)).toBe('running');
    await close(jobId, 1);
    expect(await stored(jobId)).toMatchObject({ status: 'failed', reason: 'internal_error' });
  });

  test('starts the next execution if its workflow fails at that start', async () => {
    const { jobId } = await handedOver();
    world.executions.delete(`${jobId}-1`);

    await close(jobId, 0);

    expect(world.executions.get(`${jobId}-1`)).toBe('running');
  });

  test('starts no execution of a job that has ended', async () => {
    const { jobId } = await handedOver();
    world.executions.delete(`${jobId}-1`);
    await cancelJob(jobId, 'harbour', world.c);
    const before = await stored(jobId);
    world.executions.clear();

    await close(jobId, 0);

    expect(world.executions.size).toBe(0);
    expect(await stored(jobId)).toEqual(before);
  });

  test('does not end the job if the hand-over is committed while the workflow fails', async () => {
    const { jobId, step } = await atTick1000();
    const { commit } = world.c.jobs;
    world.c.jobs.commit = async (change) => {
      world.c.jobs.commit = commit;
      await world.tick(step);
      return commit(change);
    };

    await close(jobId, 0);

    expect(await stored(jobId)).toMatchObject({ status: 'running', generation: 1, last_tick: 1000 });
  });

  test('commits no tick after the hand-over', async () => {
    const { jobId } = await handedOver();
    const next = await world.begin({ job_id: jobId, generation: 1 });
    const before = await stored(jobId);

    expect(await world.tick({ ...next, generation: 0 })).toMatchObject({ done: true });

    expect(await stored(jobId)).toEqual(before);
  });

  test('does not end the job if its execution ended and the hand-over is committed during the repair', async () => {
    const { jobId, step } = await atTick1000();
    world.executions.set(`${jobId}-0`, 'aborted');
    const { commit } = world.c.jobs;
    world.c.jobs.commit = async (change) => {
      world.c.jobs.commit = commit;
      await world.tick(step);
      return commit(change);
    };

    await repairJob(jobId, world.c);

    expect(await stored(jobId)).toMatchObject({ status: 'running', generation: 1 });
  });
});

/** A running job whose next tick is the last one of its generation. */
async function atTick1000() {
  const { jobId, step } = await begun({ max_triggers: null });
  const set = { last_tick: 999 };
  await world.c.jobs.commit({ jobId, from: ['running'], expectedSequence: 1, set, events: [] });
  return { jobId, step: { ...step, capture: { ...step.capture, tick: 1000 } } };
}

async function handedOver() {
  const { jobId, step } = await atTick1000();
  return { jobId, last: await world.tick(step) };
}

describe('cancelling', () => {
  test('ends the job, frees its slot, stops its execution and tells the webhook', async () => {
    const { jobId } = await begun({ webhook_url: 'https://example.com/hook' });
    world.advance(7);
    const job = await cancelJob(jobId, 'harbour', world.c);
    expect(job).toMatchObject({ status: 'stopped', reason: 'cancelled' });
    expect(await world.c.jobs.countActive('harbour')).toBe(0);
    expect(world.executions.get(`${jobId}-0`)).toBe('aborted');
    expect(world.queued.at(-1)?.sequence).toBe(2);
  });

  test('twice, or what is not there, or another caller’s, is refused', async () => {
    const { jobId } = await begun();
    await expect(cancelJob(jobId, 'somebody else', world.c)).rejects.toThrow(JobNotFoundError);
    await cancelJob(jobId, 'harbour', world.c);
    await expect(cancelJob(jobId, 'harbour', world.c)).rejects.toThrow(JobAlreadyStoppedError);
    world.advance(3601);
    await expect(cancelJob(jobId, 'harbour', world.c)).rejects.toThrow(JobNotFoundError);
  });
});

describe('reconcile', () => {
  test('publishes events that did not reach the queue, in order', async () => {
    const send = world.c.queue.send;
    world.c.queue.send = () => Promise.reject(new TransientError('queue is down'));
    const { jobId } = await begun({ webhook_url: 'https://example.com/hook' });
    await cancelJob(jobId, 'harbour', world.c);
    expect(world.queued).toEqual([]);
    world.c.queue.send = send;
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.queued.map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  test('gives a job whose execution it starts the time to begin, whatever sweep comes next', async () => {
    const job = await monitor();
    world.executions.clear();
    world.advance(rules.startLeaseSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    world.advance(60);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${job.job_id}-0`)).toBe('running');
    expect((await stored(job.job_id)).status).toBe('pending');
  });

  test('lets a job go on that was handed over to its next generation while it looked', async () => {
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

  test('does not fail a job whose late tick is committed during the repair', async () => {
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

  test('fails a job that is silent for longer than a tick may take, and leaves one alone that is late', async () => {
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

  test('fails a job that never begins, and leaves one alone whose Begin is retried', async () => {
    const { job_id: jobId } = await monitor();
    world.advance(rules.startLeaseSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('pending');
    world.advance(rules.maxTickSeconds);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('failed');
  });

  test('fails a job whose execution ended without it as soon as its lease ran out', async () => {
    const { jobId } = await begun();
    world.executions.set(`${jobId}-0`, 'aborted');
    world.advance(rules.leaseMarginSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect((await stored(jobId)).status).toBe('failed');
  });

  test('inspects a late job once per lease, so that others are not kept waiting', async () => {
    const { jobId } = await begun();
    world.advance(rules.leaseMarginSeconds + 1);
    await reconcile(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([]);
    world.advance(rules.leaseMarginSeconds + 1);
    expect(await world.c.jobs.dueForRepair(world.c.now(), 10)).toEqual([jobId]);
  });
});

function losesReplyOnce(commit: (change: JobChange) => Promise<'committed' | 'outdated'>) {
  let lost = false;
  return async (change: JobChange) => {
    const result = await commit(change);
    if (lost) return result;
    lost = true;
    throw new TransientError('the reply was lost');
  };
}
