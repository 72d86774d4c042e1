import type { Admission } from '../ports/callers.ts';
import type { CoreDeps } from '../dependencies.ts';
import { RateLimitedError } from '../errors.ts';

/** Limits of the calls that request something of other machines, per caller. */
export type CallLimits = {
  /** Maximum calls in any 60 s; 0 means no limit. */
  perMinute: number;
  /** Maximum concurrent calls; 0 means no limit. */
  atOnce: number;
};

/** Admitted calls of one caller. */
export type CallUse = {
  /** Start times of the calls in the last minute (epoch ms), oldest first. */
  beganMs: number[];
  /** Number of calls without a response. */
  running: number;
};

type Refusal = Extract<Admission, { kind: 'refused' }>;

/**
 * Length of the sliding window, in milliseconds. A bucket that refills would let twice its size through in its first
 * minute.
 */
export const callWindowMs = 60_000;
/** `Retry-After` at the concurrency limit: the usual duration of a check. */
const retryAtOnceSeconds = 2;

/** Returns the refusal of one more call, or undefined if both limits admit it. */
export function findRefusal(
  { beganMs, running }: CallUse,
  { perMinute, atOnce }: CallLimits,
  nowMs: number,
): Refusal | undefined {
  if (atOnce > 0 && running >= atOnce) {
    return { kind: 'refused', limit: 'concurrency', max: atOnce, retryAfterSeconds: retryAtOnceSeconds };
  }
  const oldest = beganMs[0];
  if (perMinute === 0 || oldest === undefined || beganMs.length < perMinute) return undefined;
  const retryAfterSeconds = Math.max(1, Math.ceil((oldest + callWindowMs - nowMs) / 1000));
  return { kind: 'refused', limit: 'per minute', max: perMinute, retryAfterSeconds };
}

/**
 * Runs a call that sends requests to other machines, within the caller's limits. Throws `RateLimitedError`, and the
 * errors of the call.
 */
export async function withCallLimit<Answer>(
  caller: string,
  deps: Pick<CoreDeps, 'calls'>,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const admission = await deps.calls.admit(caller);
  if (admission.kind === 'refused')
    throw new RateLimitedError(remediation(admission), admission.retryAfterSeconds);
  try {
    return await call();
  } finally {
    await admission.release();
  }
}

function remediation(refused: Extract<Admission, { kind: 'refused' }>): string {
  const calls = 'that check streams, start jobs, send webhooks or ask for advice';
  return refused.limit === 'per minute'
    ? `Try again in ${refused.retryAfterSeconds} s: a caller may make ${refused.max} calls per minute ${calls}. To check a stream repeatedly, use one job.`
    : `Wait for a response, or try again in ${refused.retryAfterSeconds} s: a caller may have ${refused.max} concurrent calls ${calls}.`;
}
