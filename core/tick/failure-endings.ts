import type { Failure, TickState } from '../records/job.ts';
import { ageSeconds } from '../time.ts';
import { rules } from '../rules.ts';
import type { JobEnding } from './tick-decision.ts';
import type { TickOutcome } from './tick-outcome.ts';

/** The stream has been gone or stale for longer than the grace period. */
export function streamLostEnding(outcome: TickOutcome, watch: TickState, now: Date): JobEnding | undefined {
  if (watch.lost_since === null || ageSeconds(watch.lost_since, now) <= rules.streamGraceSeconds)
    return undefined;
  const message = outcome.kind === 'capture_failed' ? outcome.message : 'Failed to fetch stream';
  const remediation = `The stream gave no new picture for more than ${rules.streamGraceSeconds} s. Check that it is live, then start a new job.`;
  return {
    status: 'failed',
    reason: 'stream_lost',
    failure: { code: 'STREAM_FETCH_FAILED', message, remediation },
  };
}

/** The model has not answered too often in a row; `failure` is the newest one, undefined where it was not asked or answered. */
export function modelFailureEnding(failure: Failure | undefined, watch: TickState): JobEnding | undefined {
  if (failure === undefined || watch.missed_in_a_row < rules.maxModelFailures) return undefined;
  return { status: 'failed', reason: 'vlm_error', failure };
}
