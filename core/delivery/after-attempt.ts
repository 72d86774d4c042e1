import type { Delivery } from '../records/delivery.ts';
import type { Job } from '../records/job.ts';
import type { WebhookResult } from '../ports/delivery.ts';
import type { DestinationOutcome } from '../ports/destinations.ts';
import { ageSeconds, secondsUntil, addSeconds } from '../time.ts';
import { rules } from '../rules.ts';

/** Response of a receiver to the attempt that began at `startedAt`. */
export type AttemptResult = WebhookResult & { startedAt: Date };

/** Part of a delivery that attempts change: of a job's event, or of a watch's. */
type Attempted = Pick<Delivery, 'state' | 'attempts' | 'next_attempt_at' | 'gone' | 'error' | 'resend'>;

/** Waits after failed attempts, and the start of the error after the last one. */
export type RetrySchedule = {
  waitSeconds: readonly number[];
  maxRetryAfterSeconds: number;
  failure: string;
};

const jobSchedule: RetrySchedule = {
  waitSeconds: rules.retryWaitSeconds,
  maxRetryAfterSeconds: rules.maxRetryAfterSeconds,
  failure: 'Failed to deliver webhook',
};

/** Schedule of the destinations of watches. */
export const destinationSchedule: RetrySchedule = {
  waitSeconds: rules.destinationWaitSeconds,
  maxRetryAfterSeconds: rules.maxDestinationRetryAfterSeconds,
  failure: 'Failed to deliver',
};

/**
 * Returns the delivery with an attempt added and its state decided. 2xx delivers. 410 ends all deliveries of the job. Any other result, redirects
 * included, is retried three times with growing, jittered waits, or later if `Retry-After` requests it. `random` is 0 to 1.
 */
export function afterAttempt<D extends Attempted>(
  delivery: D,
  result: AttemptResult & { outcome?: DestinationOutcome },
  now: Date,
  random: number,
  schedule: RetrySchedule = jobSchedule,
): D {
  const attempted = appendAttempt(delivery, result);
  const waitSeconds = schedule.waitSeconds[countAttempts(attempted) - 1];
  const outcome = result.outcome ?? webhookOutcome(result);
  if (outcome === 'delivered' || outcome === 'skipped')
    return { ...attempted, state: 'delivered', next_attempt_at: null };
  if (outcome !== 'retry' || waitSeconds === undefined) {
    const gone = outcome === 'gone';
    return giveUp(attempted, { why: describeDeliveryFailure(result), gone }, schedule.failure);
  }
  const jittered = waitSeconds * (1 + rules.retryJitter * (2 * random - 1));
  const requested = Math.min(retryAfterSeconds(result.retryAfter, now), schedule.maxRetryAfterSeconds);
  return { ...attempted, next_attempt_at: addSeconds(now, Math.max(jittered, requested)).toISOString() };
}

function webhookOutcome(result: WebhookResult): DestinationOutcome {
  if (isSuccess(result)) return 'delivered';
  return result.status === 410 ? 'gone' : 'retry';
}

/** Returns true for a response that accepts the event: 2xx. */
export function isSuccess({ status }: Pick<WebhookResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

function appendAttempt<D extends Attempted>(
  delivery: D,
  { startedAt, status, latencyMs, error }: AttemptResult,
): D {
  const { resend } = delivery;
  const attempt = { at: startedAt.toISOString(), status, latency_ms: latencyMs, error, resend };
  return { ...delivery, attempts: [...delivery.attempts, attempt].slice(-rules.maxAttemptsKept) };
}

/** Returns the number of attempts since the newest resend, which the waits are chosen by. */
export function countAttempts({ attempts, resend }: Pick<Delivery, 'attempts' | 'resend'>): number {
  return attempts.filter((attempt) => attempt.resend === resend).length;
}

/** Returns the delivery for a message with the given resend number: a new resend starts a new series of attempts. */
export function applyResend(delivery: Delivery, resend: number): Delivery {
  if (resend <= delivery.resend) return delivery;
  return { ...delivery, state: 'pending', next_attempt_at: null, gone: false, error: null, resend };
}

/** Reason for which a delivery is given up. `gone`: the receiver answered 410 and accepts no further event of the job. */
export type GiveUpReason = { why: string; gone: boolean };

/**
 * Returns a reason if the job ended more than an hour ago, or if the receiver answered 410 to its newest delivery: each new delivery inherits `gone`
 * from it.
 */
export function reasonToGiveUp(job: Job, newest: Delivery | undefined, now: Date): GiveUpReason | undefined {
  if (job.ended_at !== null && ageSeconds(job.ended_at, now) > rules.deliveryTtlSeconds) {
    return { why: 'the job ended more than an hour ago', gone: false };
  }
  return newest?.gone
    ? { why: 'the receiver answered 410 Gone to another event of this job', gone: true }
    : undefined;
}

/** Returns the delivery as failed, with its error. */
export function giveUp<D extends Attempted>(
  delivery: D,
  { why, gone }: GiveUpReason,
  failure: string = jobSchedule.failure,
): D {
  return {
    ...delivery,
    state: 'failed',
    next_attempt_at: null,
    gone,
    error: `${failure}: ${why}`,
  };
}

/** Describes a response other than 2xx. */
export function describeDeliveryFailure({ status, error }: WebhookResult): string {
  if (status === null) return error ?? 'no answer';
  if (status === 410) return 'the receiver answered 410 Gone';
  return status >= 300 && status < 400
    ? `the receiver redirected (${status}), which is not followed`
    : `the receiver answered ${status}`;
}

/** Parses seconds or an HTTP date (RFC 9110 section 10.2.3). Returns 0 if the value is absent or malformed. */
function retryAfterSeconds(value: string | null, now: Date): number {
  if (value === null) return 0;
  return /^\d+$/.test(value.trim()) ? Number(value) : secondsUntil(value, now, Infinity);
}
