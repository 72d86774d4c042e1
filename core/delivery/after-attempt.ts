import type { Delivery } from '../records/delivery.ts';
import type { Job } from '../records/job.ts';
import type { WebhookResult } from '../ports/delivery.ts';
import { ageSeconds, secondsUntil } from '../time.ts';
import { rules } from '../rules.ts';
import { addSeconds } from '../schedule.ts';

/** What follows an attempt. `gone`: the receiver answered 410 and wants nothing more of this job. */
export type AttemptDecision =
  { kind: 'delivered' } | { kind: 'retry'; at: Date } | { kind: 'failed'; error: string; gone: boolean };

/**
 * 2xx delivers; 410 ends the job's deliveries; everything else, redirects too, is retried three times with growing,
 * jittered waits, later where the receiver asks for it by `Retry-After`. `attemptsMade` counts this one; `random` is 0 to 1.
 */
export function decideAfterAttempt(
  attemptsMade: number,
  result: WebhookResult,
  now: Date,
  random: number,
): AttemptDecision {
  const { status } = result;
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410)
    return { kind: 'failed', error: 'Failed to deliver webhook: the receiver answered 410 Gone', gone: true };
  const waitSeconds = rules.retryWaitSeconds[attemptsMade - 1];
  if (waitSeconds === undefined)
    return {
      kind: 'failed',
      error: `Failed to deliver webhook: ${describeDeliveryFailure(result)}`,
      gone: false,
    };
  const jittered = waitSeconds * (1 + rules.retryJitter * (2 * random - 1));
  const asked = Math.min(retryAfterSeconds(result.retryAfter, now), rules.maxRetryAfterSeconds);
  return { kind: 'retry', at: addSeconds(now, Math.max(jittered, asked)) };
}

/** Why a delivery is given up without an attempt. */
export type GiveUpReason = { why: string; gone: boolean };

/** A job that ended long ago, or whose receiver answered 410 to the delivery before (which remembers it from the ones before it). */
export function reasonToGiveUp(
  job: Job,
  previous: Delivery | undefined,
  now: Date,
): GiveUpReason | undefined {
  if (job.ended_at !== null && ageSeconds(job.ended_at, now) > rules.deliveryTtlSeconds) {
    return { why: 'the job ended more than an hour ago', gone: false };
  }
  return previous?.gone
    ? { why: 'the receiver answered 410 Gone to an earlier event of this job', gone: true }
    : undefined;
}

export function markGivenUp(delivery: Delivery, { why, gone }: GiveUpReason): Delivery {
  return {
    ...delivery,
    state: 'failed',
    next_attempt_at: null,
    gone,
    error: `Failed to deliver webhook: ${why}`,
  };
}

/** In words for people; the answer was none of 2xx. */
export function describeDeliveryFailure({ status, error }: WebhookResult): string {
  if (status === null) return error ?? 'no answer';
  return status >= 300 && status < 400
    ? `the receiver redirected (${status}), which is not followed`
    : `the receiver answered ${status}`;
}

/** Seconds or an HTTP date (RFC 9110 section 10.2.3); 0 where there is none or it cannot be read. */
function retryAfterSeconds(value: string | null, now: Date): number {
  if (value === null) return 0;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : secondsUntil(value, now, Infinity);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
