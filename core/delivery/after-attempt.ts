import type { Delivery } from '../records/delivery.ts';
import type { Job } from '../records/job.ts';
import type { WebhookResult } from '../ports/delivery.ts';
import { ageSeconds, secondsUntil, addSeconds } from '../time.ts';
import { rules } from '../rules.ts';

/** Response of a receiver to the attempt that began at `startedAt`. */
export type AttemptResult = WebhookResult & { startedAt: Date };

/**
 * Returns the delivery with an attempt added and its state decided. 2xx delivers. 410 ends all deliveries of the job. Any other result, redirects
 * included, is retried three times with growing, jittered waits, or later if `Retry-After` requests it. `random` is 0 to 1.
 */
export function afterAttempt(delivery: Delivery, result: AttemptResult, now: Date, random: number): Delivery {
  const attempted = appendAttempt(delivery, result);
  if (isSuccess(result)) return { ...attempted, state: 'delivered', next_attempt_at: null };
  if (result.status === 410) return giveUp(attempted, { why: 'the receiver answered 410 Gone', gone: true });
  const waitSeconds = rules.retryWaitSeconds[countAttempts(attempted) - 1];
  if (waitSeconds === undefined)
    return giveUp(attempted, { why: describeDeliveryFailure(result), gone: false });
  const jittered = waitSeconds * (1 + rules.retryJitter * (2 * random - 1));
  const requested = Math.min(retryAfterSeconds(result.retryAfter, now), rules.maxRetryAfterSeconds);
  return { ...attempted, next_attempt_at: addSeconds(now, Math.max(jittered, requested)).toISOString() };
}

/** Returns true for a response that accepts the event: 2xx. */
export function isSuccess({ status }: Pick<WebhookResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

function appendAttempt(delivery: Delivery, { startedAt, status, latencyMs, error }: AttemptResult): Delivery {
  const { resend } = delivery;
  const attempt = { at: startedAt.toISOString(), status, latency_ms: latencyMs, error, resend };
  return { ...delivery, attempts: [...delivery.attempts, attempt].slice(-rules.maxAttemptsKept) };
}

/** Returns the number of attempts since the newest resend, which the waits are chosen by. */
export function countAttempts({ attempts, resend }: Delivery): number {
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
export function giveUp(delivery: Delivery, { why, gone }: GiveUpReason): Delivery {
  return {
    ...delivery,
    state: 'failed',
    next_attempt_at: null,
    gone,
    error: `Failed to deliver webhook: ${why}`,
  };
}

/** Describes a response other than 2xx. */
export function describeDeliveryFailure({ status, error }: WebhookResult): string {
  if (status === null) return error ?? 'no answer';
  return status >= 300 && status < 400
    ? `the receiver redirected (${status}), which is not followed`
    : `the receiver answered ${status}`;
}

/** Parses seconds or an HTTP date (RFC 9110 section 10.2.3). Returns 0 if the value is absent or malformed. */
function retryAfterSeconds(value: string | null, now: Date): number {
  if (value === null) return 0;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : secondsUntil(value, now, Infinity);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
