import { describe, expect, test } from 'vitest';
import { atTick, onClock } from '../../../core/sight/clock-change.ts';
import { mapJobTimes } from '../../../core/policies/job/map-times.ts';
import { computeCoverage } from '../../../core/policies/job/coverage.ts';
import type { Job } from '../../../core/records/job.ts';
import { jobDetail } from '../../../core/job/present-job.ts';
import { after, runningDigest, runningJob } from '../../support/watching.ts';

const iso = (seconds: number) => after(seconds).toISOString();

/** Started at 0, watched until 100 with an alert at 60 and a gap, due at 110. */
function watchedJob(): Job {
  const job = runningJob();
  return {
    ...job,
    started_at: iso(0),
    deadline: iso(600),
    state: { last_trigger_at: iso(60) },
    sight: {
      ...job.sight,
      counted_until: iso(100),
      gap_seconds: 20,
      gaps: [{ from: iso(20), to: iso(40), reason: 'stream' }],
    },
    next: {
      done: false,
      wait_until: iso(110),
      judged: true,
      closing: false,
      confirming: false,
      resolve_again: false,
    },
  };
}

describe('a job on a clock that was set back', () => {
  test('a job keeps its durations after the clock was set back', () => {
    const job = onClock(watchedJob(), after(100 - 3600), mapJobTimes);
    expect(job).toMatchObject({
      started_at: iso(-3600),
      deadline: iso(-3000),
      sight: {
        counted_until: iso(-3500),
        gaps: [{ from: iso(-3580), to: iso(-3560) }],
      },
      state: { last_trigger_at: iso(-3540) },
      next: { wait_until: iso(-3490) },
    });
  });

  test('a job keeps its coverage after the clock was set back', () => {
    const { gaps: _, ...before } = computeCoverage(watchedJob(), after(100));
    const stats = jobDetail(
      { job: watchedJob(), findings: [], deliveries: [] },
      'http://watchpost.test',
      after(100 - 3600),
    ).stats;
    expect(stats.coverage).toMatchObject(before);
    expect(stats.watch_duration_seconds).toBe(100);
  });

  test('a digest moves its samples and the end of its stream with the clock', () => {
    const job = runningDigest();
    const samples = [{ frame_key: 'a', captured_at: iso(90) }];
    const window = { index: 1, frames_captured: 1, skipped: noSkips, samples };
    const state = {
      summarized: 0,
      windows: [window],
      end: { at: iso(100), reason: 'stream_ended' as const },
    };
    const moved = onClock<Job>({ ...job, started_at: iso(0), state }, after(50), mapJobTimes);
    expect(moved).toMatchObject({
      started_at: iso(-50),
      state: { windows: [{ samples: [{ captured_at: iso(40) }] }], end: { at: iso(50) } },
    });
  });

  test('a job keeps its times while clocks differ as much as those of several machines', () => {
    const job = watchedJob();
    expect(onClock(job, after(96), mapJobTimes)).toBe(job);
    expect(onClock(job, after(5000), mapJobTimes)).toBe(job);
  });

  test('a job that has ended keeps its times', () => {
    const ended = { ...watchedJob(), status: 'stopped' as const, ended_at: iso(100) };
    expect(onClock<Job>(ended, after(-3600), mapJobTimes)).toBe(ended);
  });
});

describe('a tick', () => {
  test('a tick before its planned time shows that the clock was set back while the job waited', () => {
    const { run: job, now } = atTick(watchedJob(), after(110 - 7), mapJobTimes);
    expect(now).toEqual(after(103));
    expect(job).toMatchObject({ started_at: iso(-7), sight: { counted_until: iso(93) } });
  });

  test('a tick a moment before its planned time counts as on time', () => {
    const { run: job, now } = atTick(watchedJob(), after(108), mapJobTimes);
    expect(job.started_at).toBe(iso(0));
    expect(now).toEqual(after(110));
  });

  test('a late tick keeps its time and its job', () => {
    const stored = watchedJob();
    expect(atTick(stored, after(500), mapJobTimes)).toEqual({ run: stored, now: after(500) });
  });
});

const noSkips = { no_motion: 0, frozen: 0, black: 0, repeated: 0 };
