import { beforeEach, describe, expect, test } from 'vitest';
import { computeCoverage } from '../../../core/policies/job/coverage.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import { createDigest, createMonitor } from '../../support/create-jobs.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { createWorld, digestRequest, monitorRequest, type World } from '../../support/world.ts';

/** Jobs of several hours on a wall clock that is set back by an hour while they wait. */

const hour = 3600;
let world: World;
beforeEach(() => {
  world = createWorld({ maxJobSeconds: 24 * hour });
});

async function monitor(fields: Record<string, unknown> = {}): Promise<WorkflowState> {
  const request = monitorRequest({
    interval_seconds: 10,
    monitor_duration_seconds: 4 * hour,
    max_triggers: null,
    ...fields,
  });
  const { run_id } = await createMonitor(request, 'harbour', world.c);
  return world.begin({ run_id, generation: 0 });
}

/** Runs a number of ticks, in as many executions as they need. */
async function watch(
  first: WorkflowState,
  ticks: number,
  before: () => void = () => undefined,
): Promise<WorkflowState> {
  let step = first;
  for (let count = 0; count < ticks && !step.done; count += 1) {
    before();
    step = await nextGeneration(await world.tick(step));
    // No execution sleeps until the clock has caught up.
    if (!step.done)
      expect(Date.parse(step.wait_until) - world.clock.now.getTime()).toBeLessThanOrEqual(60_000);
  }
  return step;
}

async function nextGeneration(step: WorkflowState): Promise<WorkflowState> {
  const job = await findJob(step);
  if (!step.done || job.generation === step.generation) return step;
  return world.begin({ run_id: step.run_id, generation: job.generation });
}

const findJob = async ({ run_id: jobId }: WorkflowState) => (await world.c.jobs.getIncludingEnded(jobId))!;
const readEvents = async ({ run_id: jobId }: WorkflowState, type: string) =>
  (await world.c.jobs.events(jobId, 0, 10_000, new Date(0))).filter((event) => event.type === type);
const holds = () => world.script.verdicts.push(true);

describe('a wall clock that is set back by an hour', () => {
  test('a wall clock that is set back does not stop the checks of a monitor', async () => {
    const step = await watch(await monitor(), 6);
    world.stepClock(-hour);
    const later = await watch(step, 240);
    expect((await findJob(later)).counters.checks_performed).toBe(246);
  });

  test.each([
    { cooldown: 0, alerts: 12 },
    { cooldown: 30, alerts: 4 },
  ])('suppresses and repeats no alert with a cooldown of $cooldown s', async ({ cooldown, alerts }) => {
    const step = await watch(await monitor({ trigger_cooldown_seconds: cooldown }), 6, holds);
    world.stepClock(-hour);
    await watch(step, 6, holds);
    expect(await readEvents(step, 'watch_triggered')).toHaveLength(alerts);
  });

  test('a wall clock that is set back leaves the coverage of a job in agreement with its duration', async () => {
    const step = await watch(await monitor(), 6);
    world.stepClock(-hour);
    const job = await findJob(await watch(step, 240));
    expect(computeCoverage(job, world.clock.now)).toMatchObject({ ratio: 1, gap_seconds: 0, gaps: [] });
    expect(computeCoverage(job, world.clock.now).watched_seconds).toBeCloseTo(2450, -1);
  });

  test('a job ends after its configured duration although the wall clock was set back', async () => {
    const step = await watch(await monitor({ monitor_duration_seconds: 600 }), 30);
    world.stepClock(-hour);
    const ended = await watch(step, 40);
    const job = await findJob(ended);
    expect(job).toMatchObject({ status: 'stopped', reason: 'max_duration_reached', last_tick: 61 });
    expect(Date.parse(job.ended_at!) - Date.parse(job.started_at!)).toBe(600_000);
  });

  test('a lost stream is detected although the wall clock was set back', async () => {
    const fails = () => world.script.captures.push(new StreamFetchError('Try again.'));
    const step = await watch(await monitor(), 6);
    const lost = await watch(step, 2, fails);
    world.stepClock(-hour);
    const ended = await watch(lost, 10, fails);
    expect(await findJob(ended)).toMatchObject({ status: 'failed', reason: 'stream_lost' });
  });

  test('a stale playlist is detected although the wall clock was set back', async () => {
    const position = { segment: '9:/9.ts', segment_seconds: 2 };
    const standsStill = () => world.script.captures.push({ position });
    const step = await watch(await monitor(), 2, standsStill);
    world.stepClock(-hour);
    const ended = await watch(step, 12, standsStill);
    expect(await findJob(ended)).toMatchObject({ status: 'failed', reason: 'stream_lost' });
  });

  test('a frozen frame is detected although the wall clock was set back', async () => {
    world.c.compareMotion = () => ({
      moved: true,
      changedShare: 0.1,
      black: false,
      identicalToPrevious: true,
      stateWithNewReference: 'looked',
      stateWithSameReference: 'skipped',
      earlier: [],
    });
    const step = await watch(await monitor(), 3);
    world.stepClock(-hour);
    const later = await watch(step, 4);
    expect((await findJob(later)).counters.frozen_frames).toBeGreaterThanOrEqual(2);
  });

  test('the windows of a digest close after their minutes, with every sample in one of them, although the wall clock was set back', async () => {
    const request = digestRequest({ window_minutes: 1, capture_interval_seconds: 10, max_windows: 5 });
    const { run_id: jobId } = await createDigest(request, 'harbour', world.c);
    const begun = await world.begin({ run_id: jobId, generation: 0 });
    const step = await watch(begun, 15);
    world.stepClock(-hour);
    const ended = await watch(step, 60);
    const job = await findJob(ended);
    expect(job).toMatchObject({ status: 'stopped', reason: 'max_windows_reached' });
    const summaries = await readEvents(ended, 'summary_generated');
    const frames = summaries.map(({ data }) => ('frames_captured' in data ? data.frames_captured : 0));
    expect(frames.reduce((sum, count) => sum + count, 0)).toBe(job.counters.frames_captured);
    for (const count of frames) expect(count).toBeGreaterThanOrEqual(5);
  });

  test('a wall clock that is set back does not delay the cancellation of a digest', async () => {
    const { run_id: jobId } = await createDigest(digestRequest(), 'harbour', world.c);
    await watch(await world.begin({ run_id: jobId, generation: 0 }), 3);
    const waits: number[] = [];
    const { summarize } = world.c.summaries;
    world.c.summaries = {
      summarize: (job, closing, seconds) => {
        waits.push(seconds);
        return summarize(job, closing, seconds);
      },
    };
    const { get } = world.c.runs;
    world.c.runs.get = async (...which) => {
      const job = await get(...which);
      world.stepClock(-hour);
      return job;
    };
    await cancelJob(jobId, 'harbour', world.c);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10);
  });
});

describe('a stored wake-up time that lies an hour ahead', () => {
  test('an execution that begins after the clock was set back does not wait for a wake-up time an hour ahead', async () => {
    const step = await watch(await monitor(), 6);
    world.stepClock(-hour);
    const again = await world.begin({ run_id: step.run_id, generation: 0 });
    expect(Date.parse(again.wait_until) - world.clock.now.getTime()).toBeLessThanOrEqual(11_000);
    const later = await watch(again, 6, holds);
    expect((await findJob(later)).counters).toMatchObject({ checks_performed: 12, triggers_fired: 6 });
  });
});
