import type { WatchRun } from '../../records/watch-run.ts';
import type { StreamLossReason, StreamTrouble, WatchState } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import { addSeconds, ageSeconds, earlier } from '../../time.ts';
import type { WatchOutcome } from './outcome.ts';

type Lost = NonNullable<WatchState['causes']['stream_lost']>;
/** Trouble with the stream, and the cause `stream_lost` once it has lasted. */
export type StreamCondition = { trouble: StreamTrouble | null; lost: Lost | null };

/** Returns the state of the stream after a tick. */
export function afterStreamOutcome(
  { state, next }: Pick<WatchRun, 'state' | 'next'>,
  outcome: WatchOutcome,
  now: Date,
): StreamCondition {
  const { trouble, causes } = state;
  const lost = causes.stream_lost;
  if (outcome.kind === 'no_capture') return { trouble, lost };
  // The service could not capture: the stream has not failed, and its grace period restarts.
  if (outcome.kind === 'unavailable') return { trouble: lost ? trouble : null, lost };
  const reason = troubleReason(outcome);
  if (reason === null) return { trouble: null, lost: null };
  const lateSeconds = next === null ? 0 : ageSeconds(next.wait_until, now);
  const current = continued(trouble, reason, lateSeconds, lost !== null, outcome, now);
  const isLost = lost !== null || ageSeconds(current.since, now) >= graceSeconds(reason);
  return { trouble: current, lost: isLost ? { since: lost?.since ?? current.since, reason } : null };
}

function continued(
  before: StreamTrouble | null,
  reason: StreamLossReason,
  lateSeconds: number,
  isLost: boolean,
  outcome: WatchOutcome,
  now: Date,
): StreamTrouble {
  if (before === null || (isStill(before.reason) !== isStill(reason) && !isLost)) {
    const since = earlier(now, stillSince(outcome) ?? now).toISOString();
    return { since, reason, captures: 1 };
  }
  const captures = isStill(before.reason) === isStill(reason) ? before.captures + 1 : 1;
  if (isLost || isStill(reason)) return { since: before.since, reason, captures };
  // The grace period counts the absence of the stream, not of the service (as for jobs).
  if (lateSeconds > rules.downtimeSeconds) return { since: now.toISOString(), reason, captures };
  const unwatched = Math.max(0, lateSeconds - rules.failedCaptureSeconds);
  return { since: addSeconds(new Date(before.since), unwatched).toISOString(), reason, captures };
}

function troubleReason(outcome: WatchOutcome): StreamLossReason | null {
  switch (outcome.kind) {
    case 'capture_failed':
      if (outcome.code === 'NOT_LIVESTREAM') return 'not_live';
      return outcome.accessRefused ? 'access_refused' : 'unreachable';
    case 'ended':
      return 'not_live';
    case 'stale':
      return 'stale';
    case 'skipped':
      return outcome.why === 'frozen' || outcome.why === 'black' ? outcome.why : null;
    case 'judged':
    case 'not_asked':
    case 'no_capture':
    case 'unavailable':
      return null;
  }
}

/** Returns true for a stream that delivers images which show nothing. */
function isStill(reason: StreamLossReason): boolean {
  return reason === 'frozen' || reason === 'black';
}

function graceSeconds(reason: StreamLossReason): number {
  return isStill(reason) ? rules.watchStillSeconds : rules.streamGraceSeconds;
}

function stillSince(outcome: WatchOutcome): Date | undefined {
  if (outcome.kind !== 'skipped' || outcome.why !== 'frozen') return undefined;
  const since = outcome.captured.seen.identical_since;
  return since === null ? undefined : new Date(since);
}

/**
 * Returns the wait until the next capture of a stream with trouble; undefined if the interval applies. A frozen or black image can change at any
 * moment, and its captures cost no model call.
 */
export function troubleWaitSeconds(
  { trouble, lost }: StreamCondition,
  maxSeconds = Infinity,
): number | undefined {
  if (trouble === null || isStill(trouble.reason)) return undefined;
  if (trouble.reason === 'access_refused')
    return lost === null ? rules.streamGraceSeconds : rules.watchRefusedSeconds;
  const waits = rules.watchBackoffSeconds;
  return Math.min(waits[Math.min(trouble.captures, waits.length) - 1] ?? 1, maxSeconds);
}
