import type { Counters, Job, TickState } from '../records/job.ts';
import { ageSeconds, addSeconds } from '../time.ts';
import { intervalSeconds } from './next-tick.ts';
import { recordDelay, recordUnwatched, recordWatched } from './coverage.ts';
import { rules } from '../rules.ts';
import { skipsAfterVerdicts } from './screen-capture.ts';
import { readTimes } from './tick-outcome.ts';
import type { TickOutcome } from './tick-outcome.ts';

/** Returns the counters and the stream state of a job after a tick; the same for every type of job. */
export function recordOutcome(
  job: Job,
  outcome: TickOutcome,
  now: Date,
  stretch = 1,
): { counters: Counters; sight: TickState } {
  const { at } = readTimes(outcome, now);
  const sight = { ...remember(withDelay(job, at, stretch), outcome, at, now), ...newestFrame(outcome) };
  return { counters: count(job.counters, outcome), sight };
}

/** Adds the gap by an overload of the service to the coverage. */
function withDelay(job: Job, at: Date, stretch: number): Job {
  const isStretched = Math.max(stretch, job.next?.stretch ?? 1) > 1;
  return isStretched ? { ...job, sight: recordDelay(job.sight, intervalSeconds(job), at) } : job;
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

function remember(job: Job, outcome: TickOutcome, at: Date, now: Date): TickState {
  const seen = recordWatched(job.sight, intervalSeconds(job), at);
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
      return { ...seen, ...back, skipped_in_a_row: job.sight.skipped_in_a_row + 1 };
    case 'model_failed':
      return {
        ...recordUnwatched(job.sight, 'model'),
        ...back,
        ...countModelFailure(job, at, now),
      };
    case 'model_busy':
      return { ...recordUnwatched(job.sight, 'service'), ...back };
    case 'stale':
      return { ...lost(job, recordUnwatched(job.sight, 'stale'), at, now), failed_in_a_row: 0 };
    case 'unavailable':
      // The stream has not failed: its grace period restarts, and its URL is not resolved again (a new session begins with an advertisement).
      return { ...recordUnwatched(job.sight, 'service'), ...back };
    case 'capture_failed':
      return {
        ...lost(job, recordUnwatched(job.sight, 'stream'), at, now),
        failed_in_a_row: job.sight.failed_in_a_row + 1,
      };
    case 'ended':
    case 'no_capture':
      return { ...job.sight };
  }
}

type ModelFailures = Pick<TickState, 'missed_in_a_row' | 'model_failing_since'>;

/** State after an answer of the model. */
export const noModelFailure: ModelFailures = { missed_in_a_row: 0, model_failing_since: null };

/** Counts a failed model call; the grace period starts with the first one in a row. `at`: begin of the tick's capture. */
export function countModelFailure(job: Job, at: Date, now: Date): ModelFailures {
  return {
    missed_in_a_row: job.sight.missed_in_a_row + 1,
    model_failing_since: troubleSince(job.sight.model_failing_since, job, at, now),
  };
}

function lost(job: Job, sight: TickState, at: Date, now: Date): TickState {
  return { ...sight, lost_since: troubleSince(sight.lost_since, job, at, now) };
}

/**
 * Returns the start of a grace period, which counts the absence of the stream or of the model, not of the service: it excludes the delay of a late tick
 * (the machine slept, its clock was set forward), and restarts after a downtime.
 */
function troubleSince(since: string | null, job: Job, at: Date, now: Date): string {
  const lateSeconds = job.next === null ? 0 : ageSeconds(job.next.wait_until, at);
  if (since === null || lateSeconds > rules.downtimeSeconds) return now.toISOString();
  const unwatchedSeconds = Math.max(0, lateSeconds - rules.failedCaptureSeconds);
  return addSeconds(new Date(since), unwatchedSeconds).toISOString();
}
