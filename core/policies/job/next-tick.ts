import { withKind } from '../../records/job-kind.ts';
import type { Job, JobSight } from '../../records/job.ts';
import type { NextTick } from '../../records/run-base.ts';
import { rules } from '../../rules.ts';
import { nextGridCheck, toNextTick, wakeUpTime } from '../../sight/wake-up.ts';
import { backoffSeconds } from '../../sight/trouble.ts';
import { addSeconds, earlier } from '../../time.ts';
import type { JobOutcome } from './outcome.ts';

/**
 * Returns the time of the next capture: on the grid, earlier while the stream is stale, by the backoff after failed
 * captures. A refused password is tried once more, at the end of the grace period: cameras lock an account after a few
 * attempts.
 */
export function nextCaptureAt(job: Job, sight: JobSight, now: Date, stretch = 1): Date {
  const { stream_trouble: trouble } = sight;
  if (trouble?.reason === 'access_refused') return addSeconds(now, rules.streamGraceSeconds);
  const wait = backoffSeconds(trouble, rules.captureBackoffSeconds);
  if (wait !== undefined && trouble?.reason !== 'stale') return addSeconds(now, wait);
  const startedAt = job.started_at === null ? now : new Date(job.started_at);
  const planned = nextGridCheck(job, { startedAt, intervalSeconds: intervalSeconds(job), stretch }, now);
  return trouble === null ? planned : earlier(planned, addSeconds(now, rules.staleRecheckSeconds));
}

export function jobWakeUpTime(job: Job, now: Date): Date {
  const waitSeconds = Math.max(rules.summaryRetrySeconds, rules.streamGraceSeconds);
  return wakeUpTime(job.next, intervalSeconds(job), waitSeconds, now);
}

/** Plans the next tick. With `closing` it captures nothing, and with `done` the job ends. */
export function scheduleTick(
  job: Job,
  tickAt: Date,
  outcome: JobOutcome,
  sight: JobSight,
  next: Partial<Pick<NextTick, 'done' | 'closing' | 'stretch'>>,
): NextTick {
  const judged = (outcome.kind === 'judged' || outcome.kind === 'sampled') && !outcome.captured.black;
  const isMissed = outcome.kind === 'model_failed' || outcome.kind === 'model_busy';
  const rescans = isMissed || (lacksMoment(outcome) && !job.next?.rescans);
  return toNextTick(job, tickAt, { judged, rescans, ...next }, outcome, sight);
}

/**
 * Returns true if the model failed for a moment and no other frame holds: none alerts twice in the scan that has them
 * again.
 */
function lacksMoment(outcome: JobOutcome): boolean {
  if (outcome.kind !== 'judged' || !outcome.missed) return false;
  return ![outcome, ...(outcome.earlier ?? [])].some(({ verdict }) => verdict.triggered);
}

/** Returns the time between two captures of a job, in seconds. */
export function intervalSeconds(job: Job): number {
  return withKind(job, ({ config }, kind) => kind.intervalSeconds(config));
}

export function durationSeconds(job: Job): number {
  return withKind(job, ({ config }, kind) => kind.durationSeconds(config));
}
