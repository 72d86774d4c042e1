import { maxFailureLength, type Failure } from '../records/failure.ts';
import type { ModelTrouble, Sight, StreamLossReason, StreamTrouble } from '../records/sight.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, earlier } from '../time.ts';

/**
 * Sign of the stream in a tick: it works, it fails for a reason, the service could not capture it, or nothing is known.
 */
export type StreamSign = 'fine' | 'unavailable' | 'unknown' | StreamLossReason;

/** Time of a tick, and how late it was. */
export type TroubleTime = { lateSeconds: number; now: Date };

/** Failed model calls in a row, and their time, after which the model counts as lost. */
export type ModelGrace = { failures: number; seconds: number };

/** Returns the trouble of the stream after a tick. `begin`: begin of its image, if it has not changed since. */
export function afterStreamSign(
  before: StreamTrouble | null,
  reason: StreamSign,
  time: TroubleTime,
  begin?: Date,
): StreamTrouble | null {
  if (reason === 'unknown') return before;
  // The service could not capture: the stream has not failed, and its grace period restarts.
  if (reason === 'unavailable') return before?.lost ? before : null;
  if (reason === 'fine') return null;
  const isSame = before !== null && isStill(before.reason) === isStill(reason);
  const continued = isSame || before?.lost ? before : null;
  // A still image is delivered: its time does not depend on captures.
  const since = continued && isStill(reason) ? continued.since : troubleSince(continued, time, begin);
  const graceSeconds = isStill(reason) ? rules.watchStillSeconds : rules.streamGraceSeconds;
  return {
    since,
    reason,
    captures: isSame ? before.captures + 1 : 1,
    lost: continued?.lost || ageSeconds(since, time.now) >= graceSeconds,
  };
}

/** Returns the trouble of the model after a call: `failure` is `null` if it answered. */
export function afterModelCall(
  before: ModelTrouble | null,
  failure: Failure | null,
  grace: ModelGrace,
  time: TroubleTime,
): ModelTrouble | null {
  if (failure === null) return null;
  const since = troubleSince(before, time);
  const failures = (before?.failures ?? 0) + 1;
  const isOver = failures >= grace.failures && ageSeconds(since, time.now) >= grace.seconds;
  return { since, failures, failure: cut(failure), lost: before?.lost || isOver };
}

/** Limits the texts of a failure to the length that is stored. */
function cut({ code, message, remediation }: Failure): Failure {
  return {
    code,
    message: message.slice(0, maxFailureLength),
    remediation: remediation.slice(0, maxFailureLength),
  };
}

/**
 * Returns the begin of a trouble that continues or begins. Its grace period counts the absence of the stream or of the
 * model, not of the service: it excludes the delay of a late tick (the machine slept, its clock was set forward), and
 * restarts after a downtime.
 */
function troubleSince(
  before: { since: string; lost: boolean } | null,
  { lateSeconds, now }: TroubleTime,
  begin = now,
): string {
  if (before?.lost) return before.since;
  if (before === null) return earlier(begin, now).toISOString();
  if (lateSeconds > rules.downtimeSeconds) return now.toISOString();
  const unwatchedSeconds = Math.max(0, lateSeconds - rules.failedCaptureSeconds);
  return addSeconds(new Date(before.since), unwatchedSeconds).toISOString();
}

/** Returns true for a stream that delivers images which show nothing. */
function isStill(reason: StreamLossReason): boolean {
  return reason === 'frozen' || reason === 'black';
}

/** Returns true if the last capture brought no picture: the URL of the stream is resolved again for the next one. */
export function hasFailed(trouble: StreamTrouble | null): trouble is StreamTrouble {
  return trouble !== null && trouble.reason !== 'stale' && !isStill(trouble.reason);
}

/**
 * Returns the wait until the next capture of a stream in trouble, in seconds; undefined if the interval applies. A
 * frozen or black image can change at any moment, and its captures cost no model call.
 */
export function backoffSeconds(trouble: StreamTrouble | null, waits: readonly number[]): number | undefined {
  if (trouble === null || isStill(trouble.reason)) return undefined;
  return waits[Math.min(trouble.captures, waits.length) - 1];
}

/** Returns the loss of the stream: a trouble that has lasted for its grace period. */
export function findLoss({
  stream_trouble: trouble,
}: Pick<Sight, 'stream_trouble'>): Pick<StreamTrouble, 'since' | 'reason'> | null {
  return trouble?.lost ? { since: trouble.since, reason: trouble.reason } : null;
}
