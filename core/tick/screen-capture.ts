import type { Job } from '../records/job.ts';
import type { CaptureOutput } from '../records/workflow.ts';
import { ageSeconds } from '../time.ts';
import { rules } from '../rules.ts';

type Captured = Extract<CaptureOutput, { kind: 'captured' }>;

export type SkipReason = 'no_motion' | 'frozen' | 'black' | 'repeated';

/** Decision on a tick's capture before the model call. */
export type Screening =
  | { kind: 'look'; captured: Captured }
  | { kind: 'skip'; why: SkipReason; captured: Captured }
  | { kind: 'stale'; captured: Captured }
  | { kind: 'capture_failed'; message: string; remediation: string }
  /** The service could not take or keep a picture. */
  | { kind: 'unavailable'; message: string }
  | { kind: 'ended'; message: string }
  /** Nothing was to be captured: the tick ends the job or a window. */
  | { kind: 'due' };

/**
 * A picture that is no news is never judged as if it were: a playlist that stands still, a segment seen before, a frozen
 * or black picture. Of the others the pre-filter leaves out those in which nothing moved, but not more than a few in a row.
 */
export function screenCapture(job: Job, output: CaptureOutput, now: Date): Screening {
  if (output.kind === 'not_captured' || (job.deadline !== null && now >= new Date(job.deadline)))
    return { kind: 'due' };
  if (output.kind === 'unavailable') return { kind: 'unavailable', message: output.message };
  if (output.kind === 'ended') return { kind: 'ended', message: output.message };
  if (output.kind === 'failed') {
    return { kind: 'capture_failed', message: output.message, remediation: output.remediation };
  }
  if (isStale(output)) return { kind: 'stale', captured: output };
  const why = noNews(job, output) ?? nothingMoved(job, output);
  return why ? { kind: 'skip', why, captured: output } : { kind: 'look', captured: output };
}

/** All times are the captures' own: a look that is late, or tried again, does not make its picture older. */
function isStale({ repeated, seen }: Captured): boolean {
  const patienceSeconds = Math.max(
    rules.staleAfterSeconds,
    rules.staleAfterSegments * seen.position.segment_seconds,
  );
  return repeated && ageSeconds(seen.since, new Date(seen.seen_at)) > patienceSeconds;
}

function noNews(job: Job, { black, seen, repeated }: Captured): SkipReason | undefined {
  if (black) return 'black';
  if (seen.identical_since !== null) {
    const identicalSeconds = ageSeconds(seen.identical_since, new Date(seen.seen_at));
    if (identicalSeconds >= rules.frozenAfterSeconds) return 'frozen';
  }
  return repeated && !isUnjudged(job) ? 'repeated' : undefined;
}

/** After a model failure the same picture is worth another look: nobody has judged it yet. A digest keeps what it took. */
function isUnjudged(job: Job): boolean {
  return job.job_type === 'live-monitor' && job.watch.missed_in_a_row > 0;
}

function nothingMoved(job: Job, { moved }: Captured): SkipReason | undefined {
  if (!job.config.enable_prefilter || moved || isUnjudged(job)) return undefined;
  return job.watch.skipped_in_a_row >= rules.forceCheckAfterSkips ? undefined : 'no_motion';
}
