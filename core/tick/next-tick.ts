import type { Job, TickState } from '../records/job.ts';
import type { NextTick } from '../records/run-base.ts';
import { ageSeconds, addSeconds, earlier, maxGridIntervals, nextOnGrid, toWakeUp } from '../time.ts';
import { rules } from '../rules.ts';
import type { TickOutcome } from './tick-outcome.ts';

/** Returns the time of the next capture: on the grid, earlier while the stream is stale, by the backoff after failed captures. */
export function nextCaptureAt(job: Job, sight: TickState, now: Date, stretch = 1): Date {
  const waits = rules.captureBackoffSeconds;
  if (sight.failed_in_a_row > 0)
    return addSeconds(now, waits[Math.min(sight.failed_in_a_row, waits.length) - 1] ?? 1);
  const startedAt = job.started_at === null ? now : new Date(job.started_at);
  const grid = {
    startedAt,
    phaseMs: job.stream_phase,
    intervalSeconds: intervalSeconds(job),
    plannedAt: job.next && new Date(job.next.wait_until),
    stretch,
  };
  const planned = nextOnGrid(grid, now);
  return sight.lost_since === null ? planned : earlier(planned, addSeconds(now, rules.staleRecheckSeconds));
}

/** Returns the time of a running job's next tick: `now` if none is planned yet, or if the clock was set back since. */
export function wakeUpTime(job: Job, now: Date): Date {
  if (job.next === null) return now;
  const planned = new Date(job.next.wait_until);
  return ageSeconds(now, planned) > maxWaitSeconds(job) ? now : planned;
}

/** Longest time between two ticks of a job, in seconds. Most wake-up times are rounded up to whole seconds. */
function maxWaitSeconds(job: Job): number {
  return (
    Math.max(
      maxGridIntervals * Math.ceil((job.next?.stretch ?? 1) * intervalSeconds(job)),
      rules.summaryRetrySeconds,
      ...rules.captureBackoffSeconds,
    ) + 1
  );
}

/** Returns the end of the lease of a job that wakes at `wakeAt`. A job that is silent beyond its lease counts as lost. */
export function leaseUntil(wakeAt: Date): string {
  return addSeconds(wakeAt, rules.leaseMarginSeconds).toISOString();
}

/** Plans the next tick. With `closing` it captures nothing. */
export function scheduleTick(
  job: Job,
  at: Date,
  closing: boolean,
  outcome: TickOutcome,
  sight: TickState,
  stretch = 1,
): NextTick {
  return {
    done: false,
    wait_until: toWakeUp(at, job.stream_phase).toISOString(),
    judged: sawNews(outcome),
    closing,
    confirming: false,
    resolve_again: sight.failed_in_a_row > 0,
    ...(stretch > 1 && { stretch }),
  };
}

export function noFurtherTick(outcome: TickOutcome, now: Date): NextTick {
  return {
    done: true,
    wait_until: toWakeUp(now, null).toISOString(),
    judged: sawNews(outcome),
    closing: false,
    confirming: false,
    resolve_again: outcome.kind === 'capture_failed',
  };
}

/** Returns true if the capture becomes the motion reference. */
function sawNews({ kind }: TickOutcome): boolean {
  return kind === 'judged' || kind === 'sampled';
}

/** Returns the time between two captures of a job, in seconds. */
export function intervalSeconds(job: Job): number {
  return job.policy === 'monitor' ? job.config.interval_seconds : job.config.capture_interval_seconds;
}

/** Returns the maximum duration of a job, in seconds. */
export function durationSeconds(job: Job): number {
  return job.policy === 'monitor' ? job.config.monitor_duration_seconds : job.config.digest_duration_seconds;
}
