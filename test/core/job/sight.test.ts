import { describe, expect, test } from 'vitest';
import { StreamEndedError, StreamFetchError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { createDigest, createMonitor } from '../../support/create-jobs.ts';
import { jobStats } from '../../../core/job/present-job.ts';
import type { Job } from '../../../core/records/job.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { after } from '../../contract/records.ts';
import { createWorld, digestRequest, monitorRequest, type World } from '../../support/world.ts';

/** Coverage, windows and ends of jobs whose captures and model calls take time. */

let world: World;
const create = (limits: Parameters<typeof createWorld>[0] = {}) => (world = createWorld(limits));

const begin = ({ run_id }: Job) => world.begin({ run_id, generation: 0 });
const monitor = async (fields: Record<string, unknown>) =>
  createMonitor(monitorRequest(fields), 'harbour', world.c);
const digest = async (fields: Record<string, unknown>) =>
  createDigest(
    digestRequest({ window_minutes: 1, capture_interval_seconds: 10, ...fields }),
    'harbour',
    world.c,
  );
const ticks = async (count: number, from: WorkflowState) => {
  let step = from;
  for (let tick = 0; tick < count && !step.done; tick += 1) step = await world.tick(step);
  return step;
};
const runToEnd = async (job: Job) => world.runToEnd(await begin(job));

async function read({ run_id: jobId }: Job) {
  const job = (await world.jobs.get(jobId, world.clock.now))!;
  const events = await world.jobs.events(jobId, 0, 1000, new Date(0));
  return {
    job,
    events,
    types: events.map(({ type }) => type).filter((type) => type !== 'progress'),
    stats: jobStats(job, world.clock.now),
    summaries: events.flatMap((event) => (event.type === 'summary_generated' ? [event.data] : [])),
  };
}

/** Makes each capture take time. */
function slowCaptures(seconds: number, error?: Error): void {
  const { capture } = world.c.streams;
  world.c.streams.capture = async (...input) => {
    const taken = await capture(...input);
    world.advance(seconds);
    if (error) throw error;
    return taken;
  };
}

/** Makes each summary take time. */
function slowSummaries(seconds: number): void {
  const { summarize } = world.c.vision;
  world.c.vision.summarize = async (...input) => {
    world.advance(seconds);
    return summarize(...input);
  };
}

const failed = { status: 'failed', reason: 'stream_lost' };

describe('a capture that spans the deadline', () => {
  test('a clip as long as its job is checked, and its alert is sent', async () => {
    create();
    slowCaptures(10);
    world.script.verdicts.push(true);
    const job = await monitor({
      monitor_duration_seconds: 10,
      clip_duration_seconds: 10,
      interval_seconds: 5,
    });
    await runToEnd(job);
    const { types, stats } = await read(job);
    expect(types).toEqual(['job_started', 'watch_triggered', 'job_stopped']);
    expect(stats).toMatchObject({
      reason: 'condition_triggered',
      checks_performed: 1,
      watch_duration_seconds: 10,
    });
  });

  test.each([
    { what: 'times out at the deadline', seconds: 30, duration: 30 },
    { what: 'refuses each capture', seconds: 1, duration: 60 },
  ])('a job whose stream $what fails, with all of its time as a gap', async ({ seconds, duration }) => {
    create();
    slowCaptures(seconds, new StreamFetchError('It is down.'));
    const job = await monitor({ monitor_duration_seconds: duration });
    await runToEnd(job);
    const { types, stats } = await read(job);
    expect(types).toEqual(['job_started', 'error', 'job_stopped']);
    expect(stats).toMatchObject({
      reason: 'stream_lost',
      failed_captures: expect.toSatisfy((count) => count > 0),
      watch_duration_seconds: duration,
      coverage: { ratio: 0, gap_seconds: duration, gaps: [{ to: after(duration).toISOString() }] },
    });
  });

  test('a sample whose capture ends after the deadline is in the last window', async () => {
    create();
    slowCaptures(7);
    const job = await digest({ capture_interval_seconds: 11, max_windows: 1 });
    await runToEnd(job);
    const { stats, summaries } = await read(job);
    expect(summaries).toMatchObject([{ window_index: 1, partial: false, frames_captured: 6 }]);
    expect(stats).toMatchObject({ reason: 'max_windows_reached', frames_captured: 6 });
  });
});

describe('a wait for the model', () => {
  test('a slow summary leaves no gap in the window that it is of', async () => {
    create();
    slowSummaries(45);
    const job = await digest({ window_minutes: 2, max_windows: 2 });
    await runToEnd(job);
    const { stats, summaries } = await read(job);
    expect(summaries.map(({ summary, gaps }) => [summary, gaps])).toEqual([
      ['Nothing happened.', []],
      ['Nothing happened.', []],
    ]);
    expect(stats).toMatchObject({ watch_duration_seconds: 240, coverage: { ratio: 1, gaps: [] } });
  });

  test('a summary without captures meanwhile is a gap of the model', async () => {
    create();
    slowSummaries(80);
    const job = await digest({ max_windows: 3 });
    await runToEnd(job);
    const gap = { from: after(60).toISOString(), reason: 'model' };
    const { stats, summaries } = await read(job);
    expect(summaries.map(({ gaps }) => gaps.map(({ reason }) => reason))).toEqual([[], ['model'], ['model']]);
    expect(stats.coverage.gaps[0]).toMatchObject(gap);
  });

  test('a wait for a summary after the deadline is no part of the coverage', async () => {
    create({ modelGraceSeconds: 300 });
    const job = await digest({ window_minutes: 10, capture_interval_seconds: 60, max_windows: 1 });
    world.script.summaries.push(...Array.from({ length: 8 }, () => new VisionError('It is down.')));
    await runToEnd(job);
    const { stats, summaries } = await read(job);
    expect(summaries).toMatchObject([{ summary: 'Nothing happened.', gaps: [] }]);
    expect(stats).toMatchObject({ watch_duration_seconds: 600, coverage: { ratio: 1, gap_seconds: 0 } });
    expect(Date.parse(stats.ended_at!)).toBeGreaterThan(after(800).getTime());
  });
});

describe('the windows of a digest', () => {
  test('the windows of a cancelled digest end with its stream', async () => {
    create({ modelGraceSeconds: 300 });
    const job = await digest({});
    const lost = await ticks(3, await begin(job));
    world.script.captures.push(new StreamEndedError());
    world.script.summaries.push(...Array.from({ length: 50 }, () => new VisionError('It is down.')));
    await ticks(8, lost);
    world.script.summaries.length = 0;
    await cancelJob(job.run_id, 'harbour', world.c);
    const { summaries, stats } = await read(job);
    expect(summaries).toMatchObject([
      { partial: true, frames_captured: 3, window_end: after(30).toISOString() },
    ]);
    expect(stats).toMatchObject({ reason: 'cancelled', watch_duration_seconds: 30, coverage: { ratio: 1 } });
  });

  test('a digest whose stream is lost summarizes the pictures that it has', async () => {
    create({ maxJobSeconds: 7200 });
    const job = await digest({ window_minutes: 60, capture_interval_seconds: 60, max_windows: 1 });
    let step = await begin(job);
    while (!step.done) {
      if (world.clock.now >= after(3000)) world.script.captures.push(new StreamFetchError('It is down.'));
      step = await world.tick(step);
    }
    const { types, job: ended, summaries } = await read(job);
    expect(ended).toMatchObject(failed);
    expect(types).toEqual(['job_started', 'summary_generated', 'error', 'job_stopped']);
    expect(summaries).toMatchObject([{ frames_captured: 51, partial: true, gaps: [{ reason: 'stream' }] }]);
    expect(world.summarized[0]).toHaveLength(51);
  });

  test('a lost stream waits for the summary of a busy model, and then fails the job', async () => {
    create({ modelGraceSeconds: 300 });
    const job = await digest({ window_minutes: 10 });
    let step = await ticks(2, await begin(job));
    world.script.captures.push(...Array.from({ length: 20 }, () => new StreamFetchError('It is down.')));
    world.script.summaries.push(new VisionError('It is busy.'));
    while (!step.done) step = await world.tick(step);
    const { job: ended, summaries } = await read(job);
    expect(ended).toMatchObject(failed);
    expect(summaries).toMatchObject([{ summary: expect.stringContaining('Nothing happened.') }]);
  });

  test('a digest whose model fails tells of each window that it has no summary', async () => {
    create({ modelGraceSeconds: 300 });
    const job = await digest({ capture_interval_seconds: 20 });
    world.script.summaries.push(...Array.from({ length: 50 }, () => new VisionError('It is down.')));
    await runToEnd(job);
    const { types, summaries } = await read(job);
    expect(types.slice(-2)).toEqual(['error', 'job_stopped']);
    expect(summaries.slice(0, 6).map(({ window_index: index, summary }) => [index, summary])).toEqual(
      Array.from({ length: 6 }, (_, at) => [
        at + 1,
        "There is no summary of this window's 3 pictures: Vision model analysis failed.",
      ]),
    );
  });

  test('each of two concurrent cancellations calls the model once at most', async () => {
    create();
    const job = await digest({});
    const step = await ticks(3, await begin(job));
    const cancel = () => cancelJob(job.run_id, 'harbour', world.c);
    const results = await Promise.allSettled([cancel(), cancel(), world.tick(step)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect((await read(job)).summaries).toHaveLength(1);
    expect(world.summarized.length).toBeLessThanOrEqual(2);
  });
});

describe('a clock that is set while the model fails', () => {
  test.each([0, -3600, 3600])(
    'a step of %d s does not change the grace period of the model',
    async (step) => {
      create({ modelGraceSeconds: 300, maxJobSeconds: 86_400 });
      const job = await monitor({ monitor_duration_seconds: 20_000 });
      world.script.verdicts.push(...Array.from({ length: 500 }, () => new VisionError('It is down.')));
      let state = await ticks(3, await begin(job));
      world.stepClock(step);
      const steppedAt = world.clock.now.getTime();
      while (!state.done) state = await world.tick(state);
      const { job: ended } = await read(job);
      expect(ended).toMatchObject({ status: 'failed', reason: 'vlm_error' });
      const seconds = (Date.parse(ended.ended_at!) - steppedAt) / 1000;
      // A clock that is set forward looks like a downtime, after which the grace period begins again.
      expect(seconds).toBeGreaterThanOrEqual(270);
      expect(seconds).toBeLessThanOrEqual(310);
    },
  );
});

test('the time after the deadline is no watched time, also after a downtime', async () => {
  create();
  const job = await monitor({ monitor_duration_seconds: 600 });
  await ticks(3, await begin(job));
  world.advance(7200);
  await runToEnd(job);
  const { stats, events } = await read(job);
  expect(stats).toMatchObject({
    watch_duration_seconds: 600,
    coverage: { watched_seconds: 20, gap_seconds: 580 },
  });
  expect(events.at(-1)?.data).toMatchObject({ watch_duration_seconds: 600 });
});
