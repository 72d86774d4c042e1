import { beforeEach, describe, expect, test } from 'vitest';
import { rules } from '../../../../core/rules.ts';
import { TransientError } from '../../../../core/errors.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { createDigest } from '../../../support/create-jobs.ts';
import { cancelJob, failJob } from '../../../../core/job/end-job.ts';
import { jobDetail } from '../../../../core/job/present-job.ts';
import { getJob, readEventImage } from '../../../../core/job/read-jobs.ts';
import type { WorkflowState } from '../../../../core/records/workflow.ts';
import { createWorld, digestRequest, type World } from '../../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const digest = (fields: Record<string, unknown> = {}) =>
  createDigest(
    digestRequest({ window_minutes: 1, capture_interval_seconds: 20, ...fields }),
    'harbour',
    world.c,
  );
const begun = async (fields: Record<string, unknown> = {}) => {
  const job = await digest(fields);
  return { jobId: job.run_id, step: await world.begin({ run_id: job.run_id, generation: 0 }) };
};
const ticks = async (count: number, from: WorkflowState) => {
  let step = from;
  for (let tick = 0; tick < count; tick += 1) step = await world.tick(step);
  return step;
};
const readEvents = (jobId: string) => world.c.jobs.events(jobId, 0, 1000, new Date(0));
const readTypes = async (jobId: string) =>
  (await readEvents(jobId)).map(({ type }) => type).filter((type) => type !== 'progress');
const readSummaries = async (jobId: string) =>
  (await readEvents(jobId)).flatMap((event) => (event.type === 'summary_generated' ? [event.data] : []));

describe('creating a digest', () => {
  test('the creation of a digest stores it as pending, takes a slot and starts its execution', async () => {
    const job = await digest();
    expect(job).toMatchObject({
      status: 'pending',
      policy: 'digest',
      config: { input_mode: 'frames' },
    });
    expect(await world.c.jobs.countActive('harbour')).toBe(1);
    expect(world.executions.get(`${job.run_id}-0`)).toBe('running');
  });

  test.each([
    ['as long as its windows need', { window_minutes: 30, max_windows: 3 }, 5400],
    ['at most a day, however many windows it has', { window_minutes: 60, max_windows: 100 }, 86_400],
    ['for the server cap if max_windows is absent', { window_minutes: 1 }, 600],
    ['for one window, if that is longer than the server cap', { window_minutes: 60 }, 3600],
  ])('a digest runs %s', async (_, fields, seconds) => {
    expect((await digest(fields)).config.digest_duration_seconds).toBe(seconds);
  });
});

describe('a digest', () => {
  test('a digest ends after max_windows, with one summary each from all of their samples', async () => {
    world.script.summaries.push('A barge came.', 'It left.');
    const { jobId, step } = await begun({ max_windows: 2 });
    expect(await ticks(7, step)).toMatchObject({ done: true });
    expect(await readTypes(jobId)).toEqual([
      'job_started',
      'summary_generated',
      'summary_generated',
      'job_stopped',
    ]);
    expect(world.summarized.map(({ length }) => length)).toEqual([3, 3]);
    const times = world.summarized.flat().map(({ capturedAt }) => capturedAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const { job } = await getJob(jobId, 'harbour', world.c);
    expect(job).toMatchObject({ status: 'stopped', reason: 'max_windows_reached' });
  });

  test('a digest shows its newest 50 summaries and their total number in stats', async () => {
    const { jobId, step } = await begun({ window_minutes: 1, capture_interval_seconds: 60, max_windows: 60 });
    await ticks(55, step);
    const { stats } = jobDetail(await getJob(jobId, 'harbour', world.c), world.c.baseUrl, world.c.now());
    expect(stats).toMatchObject({ windows_summarized: 54, checks_performed: 55, triggers_fired: 0 });
    expect('summaries' in stats && stats.summaries?.map(({ data }) => data['window_index'])).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 5),
    );
    expect('triggers' in stats).toBe(false);
  });

  test('a digest with include_frames keeps the grid of a window and links to it', async () => {
    const { jobId, step } = await begun({ include_frames: true });
    await ticks(4, step);
    const { stats } = jobDetail(await getJob(jobId, 'harbour', world.c), world.c.baseUrl, world.c.now());
    const [summary] = 'summaries' in stats ? (stats.summaries ?? []) : [];
    const sequence = Number(summary?.data['sequence']);
    expect(summary?.data['frame_grid_url']).toBe(`${world.c.baseUrl}/jobs/${jobId}/media/${sequence}`);
    expect(await readEventImage(jobId, 'harbour', sequence, world.c)).toEqual(new Uint8Array([255, 216, 3]));
  });

  test('a digest summarizes a window also if its grid cannot be made', async () => {
    world.c.contactSheets.make = () => Promise.reject(new VisionError('Try again.'));
    const { jobId, step } = await begun({ include_frames: true });
    await ticks(4, step);
    expect(await readSummaries(jobId)).toMatchObject([{ summary: 'Nothing happened.' }]);
    expect((await readSummaries(jobId))[0]).not.toHaveProperty('frame_grid_key');
  });

  test('a digest leaves out skipped captures, and moves the motion reference with each sample', async () => {
    world.script.moved.push(true, false, true);
    const { jobId, step } = await begun();
    const first = await world.tick(step);
    const second = await world.tick(first);
    expect([first.capture.motion, second.capture.motion]).toEqual(['looked', 'skipped']);
    await ticks(2, second);
    expect(await readSummaries(jobId)).toMatchObject([{ frames_captured: 2, frames_skipped: 1 }]);
    expect(world.summarized[0]).toHaveLength(2);
  });

  test('a digest whose samples were removed reports it in the summary and does not fail', async () => {
    const { jobId, step } = await begun();
    const before = await ticks(3, step);
    world.pictures.clear();
    await world.tick(before);
    expect(await readSummaries(jobId)).toMatchObject([
      { summary: expect.stringContaining('removed before the model could see them') },
    ]);
  });

  test('a window whose commit succeeded but whose reply was lost is not summarized twice', async () => {
    const { jobId, step } = await begun();
    const before = await ticks(3, step);
    const { commit } = world.c.runs;
    world.c.runs.commit = async (change) => {
      await commit(change);
      world.c.runs.commit = commit;
      throw new TransientError('the reply was lost');
    };
    await expect(world.tick(before)).rejects.toThrow(TransientError);
    await world.tick(before);
    expect(world.summarized).toHaveLength(1);
    expect(await readSummaries(jobId)).toHaveLength(1);
  });

  test('a digest that fails by a defect tells of the open window that it has no summary', async () => {
    const { jobId, step } = await begun();
    await world.tick(step);
    await failJob(jobId, 'It broke.', world.c);
    expect(await readTypes(jobId)).toEqual(['job_started', 'summary_generated', 'error', 'job_stopped']);
    expect(await readSummaries(jobId)).toMatchObject([
      { summary: "There is no summary of this window's 1 picture: Internal server error." },
    ]);
  });
});

describe('cancelling a digest', () => {
  test('a cancellation first summarizes the open window, up to the cancellation', async () => {
    world.script.summaries.push('A barge came.');
    const { jobId, step } = await begun({ include_frames: true });
    await ticks(2, step);
    world.advance(5);
    const job = await cancelJob(jobId, 'harbour', world.c);
    expect(job).toMatchObject({ status: 'stopped', reason: 'cancelled' });
    expect(await readTypes(jobId)).toEqual(['job_started', 'summary_generated', 'job_stopped']);
    expect(await readSummaries(jobId)).toMatchObject([
      {
        summary: 'A barge came.',
        partial: true,
        frames_captured: 2,
        window_end: world.clock.now.toISOString(),
        frame_grid_key: expect.any(String),
      },
    ]);
    expect(job.counters).toMatchObject({ input_tokens: 100, output_tokens: 20 });
  });

  test('a cancellation does not retry a failed model call: the summary names the failure', async () => {
    world.script.summaries.push(new VisionError('Try again.'));
    const { jobId, step } = await begun();
    await world.tick(step);
    await cancelJob(jobId, 'harbour', world.c);
    expect(await readSummaries(jobId)).toMatchObject([
      { summary: "There is no summary of this window's 1 picture: Vision model analysis failed." },
    ]);
  });

  test('a cancellation limits its model call to a few seconds', async () => {
    const { jobId, step } = await begun();
    await world.tick(step);
    const timeouts: number[] = [];
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (milliseconds) => {
      timeouts.push(milliseconds);
      return timeout(milliseconds);
    };
    await cancelJob(jobId, 'harbour', world.c).finally(() => (AbortSignal.timeout = timeout));
    expect(timeouts).toEqual([rules.cancelSummaryTimeoutSeconds * 1000]);
  });

  test('a cancellation concurrent with a tick summarizes the windows that the tick left open', async () => {
    const { jobId, step } = await begun();
    const before = await ticks(3, step);
    const { commit } = world.c.runs;
    world.c.runs.commit = async (change) => {
      world.c.runs.commit = commit;
      await world.tick(before);
      return commit(change);
    };
    await cancelJob(jobId, 'harbour', world.c);
    expect((await readSummaries(jobId)).map(({ window_index: index, partial }) => [index, partial])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect((await readTypes(jobId)).at(-1)).toBe('job_stopped');
  });

  test('a cancellation before the first tick logs no summary', async () => {
    const job = await digest();
    await cancelJob(job.run_id, 'harbour', world.c);
    expect(await readTypes(job.run_id)).toEqual(['job_stopped']);
  });

  test('a cancellation after a long outage logs a summary of every window that passed', async () => {
    const { jobId, step } = await begun({ max_windows: 100 });
    await world.tick(step);
    world.advance(25 * 60);
    await cancelJob(jobId, 'harbour', world.c);
    expect((await readSummaries(jobId)).map(({ window_index: index }) => index)).toEqual(
      Array.from({ length: 25 }, (_, at) => at + 1),
    );
  });
});
