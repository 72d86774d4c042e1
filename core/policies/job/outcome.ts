import type { Failure } from '../../records/failure.ts';
import type { ClosureResult } from '../../records/window-closure.ts';
import type { Counters, Job, JobSight, TerminalStatus } from '../../records/job.ts';
import type { StopReason } from '../../records/stop-reason.ts';
import type { NextTick } from '../../records/run-base.ts';
import type { TokenUse, Verdict } from '../../records/vision.ts';
import type { Captured, Screening } from '../../sight/screening.ts';
import type { NewEvent } from '../../records/event.ts';
import { ageSeconds, earlier } from '../../time.ts';
import { rules } from '../../rules.ts';

/** Verdict on an earlier moment of a capture that looks back. */
export type EarlierVerdict = { frame_key: string; captured_at: string; verdict: Omit<Verdict, 'tokens'> };

/**
 * Outcome of a job's tick: a fresh capture has a verdict, a failed or omitted model call, or is a sample of a summary.
 */
export type JobOutcome = (
  | Exclude<Screening, { kind: 'fresh' }>
  /** `missed`: the model failed for a moment. */
  | { kind: 'judged'; verdict: Verdict; captured: Captured; earlier?: EarlierVerdict[]; missed?: true }
  /** `tokens`: those of answers that were not usable. */
  | { kind: 'model_failed'; failure: Failure; captured: Captured; tokens?: TokenUse }
  /** The model of this machine had too many images to judge. */
  | { kind: 'model_busy'; captured: Captured }
  | { kind: 'sampled'; captured: Captured }
) & {
  /** Absent if all of the tick happens when it is decided. */
  times?: TickTimes | undefined;
  /** Windows of a digest that end with this tick. */
  closed?: ClosureResult | undefined;
};

/**
 * Times of a tick: `at` is the begin of its capture, or of a tick without one; `askedAt` is before the model is called.
 */
export type TickTimes = { at: Date; askedAt: Date };

export type JobEnding = { status: TerminalStatus; reason: StopReason; failure?: Failure };

export type TickDecision = {
  counters: Counters;
  sight: JobSight;
  state: Job['state'];
  /** Progress, alerts and summaries; the events of the end are the end's own. */
  events: NewEvent[];
  next: NextTick;
  ending: JobEnding | undefined;
};

/**
 * Returns the times of a tick that is decided at `now`, which is later unless the clock was set back during the tick.
 */
export function readTimes({ times }: JobOutcome, now: Date): TickTimes {
  return { at: earlier(times?.at ?? now, now), askedAt: earlier(times?.askedAt ?? now, now) };
}

/**
 * The stream has been gone or stale for longer than the grace period, or until the deadline without any picture. A tick
 * without a capture knows nothing new about the stream.
 */
export function streamLostEnding(
  job: Job,
  outcome: JobOutcome,
  { stream_trouble: trouble, last_frame: lastFrame }: JobSight,
  now: Date,
): JobEnding | undefined {
  if (trouble === null) return undefined;
  const isOverdue = ageSeconds(trouble.since, now) >= rules.streamGraceSeconds;
  const gaveNothing = lastFrame === null && job.deadline !== null && now >= new Date(job.deadline);
  if (!gaveNothing && !(isOverdue && outcome.kind !== 'no_capture')) return undefined;
  const cause =
    outcome.kind === 'capture_failed'
      ? outcome
      : { message: 'Failed to fetch stream', remediation: 'Check that it is live.' };
  const silence = gaveNothing ? 'no picture' : `no new picture for more than ${rules.streamGraceSeconds} s`;
  const remediation = `The stream gave ${silence}. ${cause.remediation} Then start a new job.`;
  return {
    status: 'failed',
    reason: 'stream_lost',
    failure: { code: 'STREAM_FETCH_FAILED', message: cause.message, remediation },
  };
}

/** The model has failed too often in a row, and for the grace period. */
export function modelFailureEnding({ model_trouble: trouble }: JobSight): JobEnding | undefined {
  return trouble?.lost ? { status: 'failed', reason: 'vlm_error', failure: trouble.failure } : undefined;
}
