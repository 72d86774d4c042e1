import { beforeEach, describe, expect, test } from 'vitest';
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
} from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { listJobs } from '../../../core/job/read-jobs.ts';
import { repairDue } from '../../../core/workflow/repair.ts';
import type { RunChange } from '../../../core/ports/runs.ts';
import { jobCalls } from '../../support/job-calls.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';
import { judgingEach } from '../../support/scripted-model.ts';
import { anyCondition } from '../../../core/ports/vision-model.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const { monitor, begun, readTypes } = jobCalls(() => world);

describe('creating a monitor', () => {
  test('the creation of a monitor stores a pending job, takes a slot and starts an execution', async () => {
    const job = await monitor();
    expect(job).toMatchObject({ status: 'pending', policy: 'monitor' });
    expect(await world.c.jobs.countActive('harbour')).toBe(1);
    expect(world.executions.get(`${job.run_id}-0`)).toBe('running');
  });

  test('a stored job masks the password of its stream, its source does not', async () => {
    const job = await monitor({ stream_url: 'rtsp://viewer:sec@ret@camera.test/yard' });
    expect(job.stream_url).toBe('rtsp://viewer:***@camera.test/yard');
    expect((await world.c.jobs.source(job.source_id))?.url).toBe('rtsp://viewer:sec@ret@camera.test/yard');
    expect(world.logged.join()).not.toContain('ret@');
  });

  test('the config shows the duration that the server cap allows', async () => {
    expect((await monitor({ monitor_duration_seconds: 9000 })).config.monitor_duration_seconds).toBe(600);
  });

  test('a creation whose stream is not live stores nothing', async () => {
    world.script.probe = new NotLiveError('Give a live URL.');
    await expect(monitor()).rejects.toThrow(NotLiveError);
    expect((await listJobs({ caller: 'harbour', limit: 20, offset: 0 }, world.c)).total).toBe(0);
    expect(await world.c.jobs.countActive('harbour')).toBe(0);
  });

  test('an eleventh active job is rejected, also if all creations are concurrent', async () => {
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

  test('clip mode requires a model that takes video, and the default mode is one that the model takes', async () => {
    const imagesOnly = { ...world.c, vision: { ...world.c.vision, capabilities: anyCondition } };
    await expect(
      createMonitor(monitorRequest({ input_mode: 'clip' }), 'harbour', imagesOnly),
    ).rejects.toThrow(InvalidInputModeError);
    expect((await createMonitor(monitorRequest(), 'harbour', imagesOnly)).config.input_mode).toBe('frames');
    expect((await monitor()).config.input_mode).toBe('clip');
  });

  test('reconcile starts the execution of a job whose start was lost', async () => {
    const lost = {
      ...world.c,
      executions: { ...world.c.executions, start: () => Promise.reject(new TransientError('lost')) },
    };
    const job = await createMonitor(monitorRequest(), 'harbour', lost);
    expect(world.executions.size).toBe(0);
    world.advance(rules.startLeaseSeconds + 1);
    await repairDue(world.c, { dueBy: world.c.now(), limit: 10 });
    expect(world.executions.get(`${job.run_id}-0`)).toBe('running');
  });
});

describe('a tick', () => {
  test('a tick whose commit succeeded and whose reply was lost is not repeated', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    let judged = 0;
    const { commit } = world.c.runs;
    const losing = {
      runs: { ...world.c.runs, commit: losesReplyOnce(commit) },
      vision: {
        ...world.c.vision,
        judge: judgingEach(async () => {
          judged += 1;
          return {
            triggered: true,
            explanation: 'It is there.',
            tokens: { input_tokens: 1, output_tokens: 1 },
          };
        }),
      },
    };
    Object.assign(world.c, losing);
    await expect(world.tick(step)).rejects.toThrow(TransientError);
    const next = await world.tick(step);
    expect(judged).toBe(1);
    expect(next.capture.tick).toBe(2);
    expect(await readTypes(jobId)).toEqual(['job_started', 'progress', 'watch_triggered']);
  });

  test('a model that compares gets the frame of the check before, and the first check has none', async () => {
    const pairs: (number[] | undefined)[][] = [];
    const { judge } = world.c.vision;
    Object.assign(world.c.vision, {
      capabilities: { ...world.c.vision.capabilities, usesPrevious: true },
      judge: (...given: Parameters<typeof judge>) => {
        const [{ frame, previous }] = given;
        pairs.push([[...frame], previous && [...previous]]);
        return judge(...given);
      },
    });
    const { step } = await begun({ max_triggers: null });
    await world.tick(await world.tick(step));
    expect(pairs).toHaveLength(2);
    expect(pairs[0]?.[1]).toBeUndefined();
    expect(pairs[1]?.[1]).toEqual(pairs[0]?.[0]);
    expect(pairs[1]?.[0]).not.toEqual(pairs[0]?.[0]);
  });

  test('a tick of a cancelled job changes nothing', async () => {
    const { jobId, step } = await begun();
    await cancelJob(jobId, 'harbour', world.c);
    expect(await world.tick(step)).toMatchObject({ done: true });
    expect(await readTypes(jobId)).toEqual(['job_started', 'job_stopped']);
  });

  test('the motion reference changes only with a judged capture', async () => {
    const { step } = await begun({ max_triggers: null });
    const afterLook = await world.tick(step);
    expect(afterLook.capture.motion).toBe('looked');
    world.script.moved.push(false);
    expect((await world.tick(afterLook)).capture.motion).toBe('skipped');
    world.script.verdicts.push(new VisionError('Try again.'));
    expect((await world.tick(afterLook)).capture.motion).toBe('skipped');
  });

  test('a failed capture makes the next tick resolve the URL again', async () => {
    const { step } = await begun();
    world.script.captures.push(new StreamFetchError('Try again.'));
    const next = await world.tick(step);
    expect(next.capture.resolve_again).toBe(true);
    expect((await world.tick(next)).capture.resolve_again).toBe(false);
  });

  test('the last tick of a generation hands the job over to the next one, which continues with the next tick', async () => {
    const { jobId, step } = await begun({ max_triggers: null });
    await world.c.jobs.commit({
      runId: jobId,
      expectedVersion: 1,
      set: {
        last_tick: rules.ticksPerExecution - 1,
        execution_ticks: rules.ticksPerExecution - 1,
      },
      events: [],
    });
    const last = await world.tick({ ...step, capture: { ...step.capture, tick: rules.ticksPerExecution } });
    expect(last.done).toBe(true);
    expect(world.executions.get(`${jobId}-1`)).toBe('running');
    const resumed = await world.begin({ run_id: jobId, generation: 1 });
    expect(resumed).toMatchObject({
      done: false,
      wait_until: last.wait_until,
      capture: { tick: rules.ticksPerExecution + 1 },
    });
    expect(await world.begin({ run_id: jobId, generation: 0 })).toMatchObject({ done: true });
  });
});

describe('cancelling', () => {
  test('a cancellation ends the job, frees its slot, stops its execution and notifies the webhook', async () => {
    const { jobId } = await begun({ webhook_url: 'https://example.com/hook' });
    world.advance(7);
    const job = await cancelJob(jobId, 'harbour', world.c);
    expect(job).toMatchObject({ status: 'stopped', reason: 'cancelled' });
    expect(await world.c.jobs.countActive('harbour')).toBe(0);
    expect(world.executions.get(`${jobId}-0`)).toBe('aborted');
    expect(world.queued.at(-1)?.sequence).toBe(2);
  });

  test('a second cancellation, an unknown job and a job of another caller are rejected', async () => {
    const { jobId } = await begun();
    await expect(cancelJob(jobId, 'somebody else', world.c)).rejects.toThrow(JobNotFoundError);
    await cancelJob(jobId, 'harbour', world.c);
    await expect(cancelJob(jobId, 'harbour', world.c)).rejects.toThrow(JobAlreadyStoppedError);
    world.advance(3601);
    await expect(cancelJob(jobId, 'harbour', world.c)).rejects.toThrow(JobNotFoundError);
  });
});

function losesReplyOnce(commit: (change: RunChange) => Promise<'committed' | 'outdated'>) {
  let lost = false;
  return async (change: RunChange) => {
    const result = await commit(change);
    if (lost) return result;
    lost = true;
    throw new TransientError('the reply was lost');
  };
}
