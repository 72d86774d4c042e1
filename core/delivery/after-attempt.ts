import type { Delivery, RunKey } from '../records/delivery.ts';
import type { WebhookResult, DestinationResult } from '../ports/delivery.ts';
import { parseRetryAfter } from '../outside-time.ts';
import { addSeconds, ageSeconds, secondsUntil } from '../time.ts';
import { rules } from '../rules.ts';

export type AttemptResult = DestinationResult & { startedAt: Date };

/** Waits after failed attempts, and the start of the error after the last one. */
export type RetrySchedule = {
  waitSeconds: readonly number[];
  maxRetryAfterSeconds: number;
  failure: string;
};

/** Schedules of the webhooks of jobs, and of the destinations of watches. */
const schedules: Record<RunKey['run'], RetrySchedule> = {
  job: {
    waitSeconds: rules.retryWaitSeconds,
    maxRetryAfterSeconds: rules.maxRetryAfterSeconds,
    failure: 'Failed to deliver webhook',
  },
  watch: {
    waitSeconds: rules.destinationWaitSeconds,
    maxRetryAfterSeconds: rules.maxDestinationRetryAfterSeconds,
    failure: 'Failed to deliver',
  },
};

/**
 * Returns the delivery with an attempt added and its state decided. A result that may change later is retried with
 * growing, jittered waits, or later if `Retry-After` requests it. `random` is 0 to 1.
 */
export function afterAttempt(delivery: Delivery, result: AttemptResult, now: Date, random: number): Delivery {
  const schedule = schedules[delivery.run];
  const attempted = appendAttempt(delivery, result);
  const waitSeconds = schedule.waitSeconds[countAttempts(attempted) - 1];
  const { outcome } = result;
  if (outcome === 'delivered') return { ...attempted, state: 'delivered', next_attempt_at: null };
  if (outcome !== 'retry' || waitSeconds === undefined)
    return giveUp(attempted, describeDeliveryFailure(result));
  const jittered = waitSeconds * (1 + rules.retryJitter * (2 * random - 1));
  const requested = Math.min(parseRetryAfter(result.retryAfter, now) ?? 0, schedule.maxRetryAfterSeconds);
  const next = addSeconds(now, Math.max(jittered, requested));
  return { ...attempted, next_attempt_at: next.toISOString() };
}

function appendAttempt(delivery: Delivery, { startedAt, status, latencyMs, error }: AttemptResult): Delivery {
  const { resend } = delivery;
  const attempt = { at: startedAt.toISOString(), status, latency_ms: latencyMs, error, resend };
  return { ...delivery, attempts: [...delivery.attempts, attempt].slice(-rules.maxAttemptsKept) };
}

/** Returns the seconds until the next attempt. If the clock was set back, the wait is at most the planned one. */
export function secondsUntilAttempt(
  { attempts, next_attempt_at: due }: Pick<Delivery, 'attempts' | 'next_attempt_at'>,
  now: Date,
): number {
  if (due === null) return 0;
  const last = attempts.at(-1);
  return secondsUntil(due, now, last ? ageSeconds(last.at, new Date(due)) : 0);
}

/** Returns the number of attempts since the newest resend, which the waits are chosen by. */
export function countAttempts({ attempts, resend }: Pick<Delivery, 'attempts' | 'resend'>): number {
  return attempts.filter((attempt) => attempt.resend === resend).length;
}

/** Returns the delivery for a message with the given resend number: a new resend starts a new series of attempts. */
export function applyResend(delivery: Delivery, resend: number): Delivery {
  if (resend <= delivery.resend) return delivery;
  return { ...delivery, state: 'pending', next_attempt_at: null, error: null, resend };
}

export function giveUp(delivery: Delivery, why: string): Delivery {
  const error = `${schedules[delivery.run].failure}: ${why}`;
  return { ...delivery, state: 'failed', next_attempt_at: null, error };
}

/** Describes a response other than 2xx. */
export function describeDeliveryFailure({ status, error }: WebhookResult): string {
  if (error !== null || status === null) return error ?? 'no answer';
  if (status === 410) return 'the receiver answered 410 Gone';
  return status >= 300 && status < 400
    ? `the receiver redirected (${status}), which is not followed`
    : `the receiver answered ${status}`;
}
