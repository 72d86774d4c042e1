import { z } from 'zod';
import { ageSeconds, secondsUntil } from '../time.ts';

const timestampSchema = z.iso.datetime();

/** 0 for the first sending. Records of before there were resends have none. */
const resendSchema = z.int().nonnegative().default(0);

export const deliveryStateSchema = z.enum(['pending', 'delivered', 'failed']);

const attemptSchema = z.object({
  at: timestampSchema,
  /** HTTP status; null where none came. */
  status: z.int().nullable(),
  latency_ms: z.int().nonnegative(),
  error: z.string().nullable(),
  /** Which sending it belongs to: 0, or the number of the resend. */
  resend: resendSchema,
});

/** One event for one webhook URL. */
export const deliverySchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  event_type: z.string(),
  state: deliveryStateSchema,
  /** Attempts of all sendings, oldest first; the newest `rules.maxAttemptsKept`. */
  attempts: z.array(attemptSchema),
  next_attempt_at: timestampSchema.nullable(),
  /** The receiver wants nothing more of this job: it answered 410, to this event or to an earlier one. */
  gone: z.boolean().default(false),
  /** `Failed to deliver webhook` and why, once failed. */
  error: z.string().nullable(),
  /** How often it was sent again: each is a fresh series of attempts. */
  resend: resendSchema,
});
export type Delivery = z.infer<typeof deliverySchema>;

export function initialDelivery(jobId: string, sequence: number, eventType: string): Delivery {
  return {
    job_id: jobId,
    sequence,
    event_type: eventType,
    state: 'pending',
    attempts: [],
    next_attempt_at: null,
    gone: false,
    error: null,
    resend: 0,
  };
}

/** Returns the seconds until the next attempt is due. No wait is longer than it was meant after the last attempt. */
export function secondsUntilAttempt({ attempts, next_attempt_at: due }: Delivery, now: Date): number {
  if (due === null) return 0;
  const last = attempts.at(-1);
  return secondsUntil(due, now, last ? ageSeconds(last.at, new Date(due)) : 0);
}

/** What the delivery queue carries: one group a job, so that a job's events stay in order. */
export const deliveryMessageSchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  resend: z.int().nonnegative(),
});
export type DeliveryMessage = z.infer<typeof deliveryMessageSchema>;

/** Returns the id by which the queue detects a message that is sent again within five minutes. */
export function deduplicationId({ job_id, sequence, resend }: DeliveryMessage): string {
  return `${job_id}:${sequence}:${resend}`;
}
