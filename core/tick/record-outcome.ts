import type { Counters, Job, TickState } from '../records/job.ts';
import { ageSeconds, addSeconds } from '../time.ts';
import { intervalSeconds } from './next-tick.ts';
import { recordDelay, recordUnwatched, recordWatched } from './coverage.ts';
import { rules } from '../rules.ts';
import { skipsAfterVerdicts } from './screen-capture.ts';
import type { TickOutcome } from './tick-outcome.ts';

/** Returns the counters and the stream state of a job after a tick; the same for every type of job. */
export function recordOutcome(
  job: Job,
  outcome: TickOutcome,
  now: Date,
  stretch = 1,
): { counters: Counters; watch: TickState } {
  const watch = { ...remember(withDelay(job, now, stretch), outcome, now), ...newestFrame(outcome) };
  return { counters: count(job.counters, outcome), watch };
}

/** Adds the gap by an overload of the service to the coverage. */
function withDelay(job: Job, now: Date, stretch: number): Job {
  const isStretched = Math.max(stretch, job.next?.stretch ?? 1) > 1;
  return isStretched ? { ...job, watch: recordDelay(job.watch, intervalSeconds(job), now) } : job;
}

function newestFrame(outcome: TickOutcome): Pick<TickState, 'last_frame'> {
  if (!('captured' in outcome)) return {};
  const { frame_key: key, captured_at } = outcome.captured;
  return { last_frame: { key, captured_at, evidence: false } };
}

function count(before: Counters, outcome: TickOutcome): Counters {
  const counters = { ...before };
  if (outcome.kind === 'judged') {
    counters.checks_performed += 1;
    counters.frames_captured += 1;
    counters.input_tokens += outcome.verdict.tokens.input_tokens;
    counters.output_tokens += outcome.verdict.tokens.output_tokens;
  }
  if (outcome.kind === 'sampled') {
    counters.checks_performed += 1;
    counters.frames_captured += 1;
  }
  if (outcome.kind === 'model_failed' || outcome.kind === 'model_busy') {
    counters.checks_missed += 1;
    counters.frames_captured += 1;
  }
  if (outcome.kind === 'skipped') {
    counters.frames_skipped += 1;
    if (outcome.why === 'frozen') counters.frozen_frames += 1;
    if (outcome.why === 'black') counters.black_frames += 1;
  }
  if (outcome.kind === 'stale') counters.stale_captures += 1;
  if (outcome.kind === 'capture_failed' || outcome.kind === 'unavailable') counters.failed_captures += 1;
  return counters;
}

function remember(job: Job, outcome: TickOutcome, now: Date): TickState {
  const seen = recordWatched(job.watch, intervalSeconds(job), now);
  const back = { failed_in_a_row: 0, lost_since: null };
  switch (outcome.kind) {
    case 'judged':
      return {
        ...seen,
        ...back,
        ...noModelFailure,
        skipped_in_a_row: skipsAfterVerdicts([outcome.verdict]),
      };
    case 'sampled':
      return { ...seen, ...back, skipped_in_a_row: 0 };
    case 'skipped':
      return { ...seen, ...back, skipped_in_a_row: job.watch.skipped_in_a_row + 1 };
    case 'model_failed':
      return {
        ...recordUnwatched(job.watch, 'model'),
        ...back,
        ...countModelFailure(job.watch, now),
      };
    case 'model_busy':
      return { ...recordUnwatched(job.watch, 'service'), ...back };
    case 'stale':
      return { ...lost(job, recordUnwatched(job.watch, 'stale'), now), failed_in_a_row: 0 };
    case 'unavailable':
      // The stream has not failed: its grace period restarts, and its URL is not resolved again (a new session begins with an advertisement).
      return { ...recordUnwatched(job.watch, 'service'), ...back };
    case 'capture_failed':
      return {
        ...lost(job, recordUnwatched(job.watch, 'stream'), now),
        failed_in_a_row: job.watch.failed_in_a_row + 1,
      };
    case 'ended':
    case 'no_capture':
      return { ...job.watch };
  }
}

type ModelFailures = Pick<TickState, 'missed_in_a_row' | 'model_failing_since'>;

/** State after an answer of the model. */
export const noModelFailure: ModelFailures = { missed_in_a_row: 0, model_failing_since: null };

/** Counts a failed model call; the grace period starts with the first one in a row. */
export function countModelFailure(watch: ModelFailures, now: Date): ModelFailures {
  return {
    missed_in_a_row: watch.missed_in_a_row + 1,
    model_failing_since: watch.model_failing_since ?? now.toISOString(),
  };
}

/**
 * The grace period counts the absence of the stream, not of the service: it excludes the delay of a late tick (the machine slept), and
 * restarts after a downtime.
 */
function lost(job: Job, watch: TickState, now: Date): TickState {
  const lateSeconds = job.next === null ? 0 : ageSeconds(job.next.wait_until, now);
  if (watch.lost_since === null || lateSeconds > rules.downtimeSeconds)
    return { ...watch, lost_since: now.toISOString() };
  const unwatchedSeconds = Math.max(0, lateSeconds - rules.failedCaptureSeconds);
  return { ...watch, lost_since: addSeconds(new Date(watch.lost_since), unwatchedSeconds).toISOString() };
}
