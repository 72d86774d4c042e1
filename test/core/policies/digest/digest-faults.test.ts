import { beforeEach, describe, expect, test } from 'vitest';
import { rules } from '../../../../core/rules.ts';
import { StreamEndedError, StreamFetchError, TransientError } from '../../../../core/errors.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { createDigest } from '../../../support/create-jobs.ts';
import { cancelJob } from '../../../../core/job/end-job.ts';
import type { WorkflowState } from '../../../../core/records/workflow.ts';
import { createWorld, digestRequest, type World } from '../../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const minute = { window_minutes: 1, capture_interval_seconds: 20 };
const running = async (count: number, fields: Record<string, unknown> = {}) => {
  const request = digestRequest({ ...minute, ...fields });
  const { run_id: jobId } = await createDigest(request, 'harbour', world.c);
  return { jobId, step: await ticks(count, await world.begin({ run_id: jobId, generation: 0 })) };
};
const ticks = async (count: number, from: WorkflowState) => {
  let step = from;
  for (let tick = 0; tick < count && !step.done; tick += 1) step = await world.tick(step);
  return step;
};
const readEvents = (jobId: string) => world.c.jobs.events(jobId, 0, 1000, new Date(0));
const readSummaries = async (jobId: string) =>
  (await readEvents(jobId)).flatMap((event) => (event.type === 'summary_generated' ? [event.data] : []));
const cancelled = { status: 'stopped', reason: 'cancelled' };

test('a tick that a cancellation overtakes tells of no window again', async () => {
  world.script.summaries.push(new VisionError('It is down.'));
  const { jobId, step } = await running(4);
  const { commit } = world.c.runs;
  const { summarize } = world.c.vision;
  const ticksTurn = Promise.withResolvers<void>();
  const ticksQuestion = Promise.withResolvers<void>();
  let questions = 0;
  world.c.vision.summarize = async (samples, signal) => {
    questions += 1;
    ticksQuestion.resolve();
    if (questions === 1) await ticksTurn.promise;
    return summarize(samples, signal);
  };
  const tick = world.tick(step);
  await ticksQuestion.promise;
  // The cancellation has closed the first window and is about to ask for the second one: now the tick commits.
  world.c.runs.commit = async (change) => {
    world.c.runs.commit = commit;
    const result = await commit(change);
    ticksTurn.resolve();
    await tick;
    return result;
  };
  await cancelJob(jobId, 'harbour', world.c);
  const summaries = await readSummaries(jobId);
  expect(summaries.map(({ window_index: index }) => index)).toEqual([1, 2]);
  expect(summaries.map(({ frames_captured: frames }) => frames)).toEqual([3, 2]);
});

describe('a grid that cannot be stored', () => {
  beforeEach(() => {
    const { put } = world.c.media;
    world.c.media.put = async (key, ...rest) => {
      if (key.includes('/window-')) throw new TransientError('The media store is down');
      return put(key, ...rest);
    };
  });

  test('a grid that cannot be stored does not prevent the summary', async () => {
    const { jobId } = await running(4, { include_frames: true });
    expect(await readSummaries(jobId)).toMatchObject([{ summary: 'Nothing happened.' }]);
  });

  test('a caller can cancel a digest whose grid cannot be stored', async () => {
    const { jobId } = await running(2, { include_frames: true });
    expect(await cancelJob(jobId, 'harbour', world.c)).toMatchObject(cancelled);
    expect(await readSummaries(jobId)).toMatchObject([{ summary: 'Nothing happened.' }]);
  });
});

describe('pictures that cannot be read for a moment', () => {
  test('samples that cannot be read are read again, and the window gets its summary', async () => {
    const { jobId, step } = await running(3);
    const { get } = world.c.media;
    world.c.media.get = () => Promise.reject(new TransientError('The media store is down'));
    const next = await world.tick(step);
    expect(await readSummaries(jobId)).toEqual([]);
    world.c.media.get = get;
    await world.tick(next);
    expect(await readSummaries(jobId)).toMatchObject([{ summary: 'Nothing happened.' }]);
  });

  test('and stay so cost the summary, not the job', async () => {
    const { jobId, step } = await running(3);
    world.c.media.get = () => Promise.reject(new TransientError('The media store is down'));
    await ticks(rules.maxModelFailures, step);
    expect(await readSummaries(jobId)).toMatchObject([
      { summary: "There is no summary of this window's 3 pictures: they could not be read." },
    ]);
    expect(await world.c.jobs.get(jobId, world.clock.now)).toMatchObject({ status: 'running' });
  });
});

describe('cancelling a digest ends it', () => {
  test('cancelling a digest ends it despite a mistake in the model, which is logged', async () => {
    const { jobId } = await running(2);
    world.c.vision.summarize = () => Promise.reject(new TypeError('a mistake'));
    expect(await cancelJob(jobId, 'harbour', world.c)).toMatchObject(cancelled);
    expect(await readSummaries(jobId)).toMatchObject([
      { summary: "There is no summary of this window's 2 pictures: the model could not be asked." },
    ]);
    expect(world.logged).toContainEqual(expect.stringContaining('No last summary was made'));
  });

  test.each([
    ['a model', () => (world.c.vision.summarize = () => new Promise(() => {}))],
    ['a media store', () => (world.c.media.get = () => new Promise(() => {}))],
  ])('cancelling a digest ends it despite %s that never answers and ignores its signal', async (_, hang) => {
    const { jobId } = await running(2);
    hang();
    const { timeout } = AbortSignal;
    AbortSignal.timeout = () => timeout(20);
    try {
      expect(await cancelJob(jobId, 'harbour', world.c)).toMatchObject(cancelled);
    } finally {
      AbortSignal.timeout = timeout;
    }
    expect(await readSummaries(jobId)).toMatchObject([{ summary: expect.stringContaining('no summary') }]);
  });
});

test('a stream that has ended is not captured again for a repeated summary', async () => {
  const { jobId, step } = await running(3, { window_minutes: 5 });
  world.script.captures.push(new StreamEndedError());
  world.script.summaries.push(new VisionError('It is busy.'));
  const retry = await world.tick(step);
  const endedAt = world.clock.now.toISOString();
  expect(retry.capture.closing).toBe(true);
  world.script.captures.push(new StreamFetchError('It is gone.'));
  expect(await world.tick(retry)).toMatchObject({ done: true });
  expect(await readSummaries(jobId)).toMatchObject([
    { summary: 'Nothing happened.', partial: true, window_end: endedAt, gaps: [] },
  ]);
  expect((await readEvents(jobId)).at(-1)).toMatchObject({ data: { reason: 'stream_ended' } });
});
