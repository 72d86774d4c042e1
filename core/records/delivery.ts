import { z } from 'zod';
import { ageSeconds, secondsUntil } from '../time.ts';

const timestampSchema = z.iso.datetime();

/** Types of events that webhooks receive: all except `progress`. */
export const webhookEventTypeSchema = z.enum([
  'job_started',
  'watch_triggered',
  'summary_generated',
  'error',
  'job_stopped',
]);
export type WebhookEventType = z.infer<typeof webhookEventTypeSchema>;

/** Types that a webhook receives; `null` for all. */
export const webhookEventsSchema = z.array(webhookEventTypeSchema).nullable();

/** Returns true if webhooks receive the event, unless a filter excludes it. */
export function isDeliveredByWebhook(type: string): boolean {
  return webhookEventTypeSchema.safeParse(type).success;
}

/** Returns true if the webhook of the job receives the event. */
export function passesFilter(filter: readonly WebhookEventType[] | null, type: string): boolean {
  return filter === null ? isDeliveredByWebhook(type) : filter.some((wanted) => wanted === type);
}

/** 0 for the original delivery. */
const resendSchema = z.int().nonnegative();

/** `failed` is final until a resend. */
export const deliveryStateSchema = z.enum(['pending', 'delivered', 'failed']);

export const attemptSchema = z.object({
  at: timestampSchema,
  /** HTTP status; `null` if there was no response. */
  status: z.int().nullable(),
  latency_ms: z.int().nonnegative(),
  error: z.string().nullable(),
  /** Series that the attempt belongs to: 0, or the number of the resend. */
  resend: resendSchema,
});

/** One event for one webhook URL. */
export const deliverySchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  event_type: z.string(),
  state: deliveryStateSchema,
  /** Newest `rules.maxAttemptsKept` attempts of all series, oldest first. */
  attempts: z.array(attemptSchema),
  next_attempt_at: timestampSchema.nullable(),
  /** True if the receiver returned 410 for this event or an earlier one of the job: no further attempt follows. */
  gone: z.boolean().default(false),
  /** `Failed to deliver webhook` with the reason; `null` unless failed. */
  error: z.string().nullable(),
  /** Number of resends. Each starts a new series of attempts. */
  resend: resendSchema,
});
export type Delivery = z.infer<typeof deliverySchema>;

/** Creates a pending delivery without attempts. */
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

/** Returns the seconds until the next attempt. If the clock was set back, the wait is at most the planned one. */
export function secondsUntilAttempt(
  { attempts, next_attempt_at: due }: Pick<Delivery, 'attempts' | 'next_attempt_at'>,
  now: Date,
): number {
  if (due === null) return 0;
  const last = attempts.at(-1);
  return secondsUntil(due, now, last ? ageSeconds(last.at, new Date(due)) : 0);
}

/** Message of the delivery queue. */
export const deliveryMessageSchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  resend: z.int().nonnegative(),
  /** Attempts of its series when it was sent; 0 for the first. */
  attempt: z.int().nonnegative(),
});
export type DeliveryMessage = z.infer<typeof deliveryMessageSchema>;

/** Message of one event of a watch for one destination. */
export const watchMessageSchema = z.object({
  watch_id: z.uuid(),
  sequence: z.int().positive(),
  destination_id: z.string(),
  /** Alert of the event; `null` if it belongs to the watch. */
  alert_id: z.uuid().nullable(),
});
export type WatchMessage = z.infer<typeof watchMessageSchema>;

/** Message of one event for the event bus of the deployment. */
export const busMessageSchema = z.object({
  /** Owner of the event. `test`: a test alert of a watch, which is in no log. */
  bus: z.enum(['job', 'watch', 'test']),
  /** Id of the job or of the watch. */
  id: z.uuid(),
  /** Position in the log; 0 for a test alert. */
  sequence: z.int().nonnegative(),
  /** Alert of the event; `null` without one. */
  alert_id: z.uuid().nullable(),
  /** Id and time of a test alert. */
  test: z.object({ id: z.string(), timestamp: timestampSchema }).optional(),
});
export type BusMessage = z.infer<typeof busMessageSchema>;

export const queueMessageSchema = z.union([deliveryMessageSchema, watchMessageSchema, busMessageSchema]);
export type QueueMessage = z.infer<typeof queueMessageSchema>;

/**
 * Returns the message group, whose messages are handled one after the other. First attempts have the group of their job, which keeps the order of its
 * log. A delivery that has failed has a group of its own, so that its retries delay no other event. Events of a watch have a group per destination and
 * alert: a closing waits for its opening, and for nothing else. Events for the bus have such groups of their own.
 */
export function messageGroup(message: QueueMessage): string {
  if ('bus' in message) return `${message.id}:bus:${message.alert_id ?? message.bus}`;
  if ('watch_id' in message)
    return `${message.watch_id}:${message.destination_id}:${message.alert_id ?? 'watch'}`;
  const { job_id, sequence, attempt } = message;
  return attempt === 0 ? job_id : `${job_id}:${sequence}`;
}

/** Returns the id by which the queue detects a message that is sent again within five minutes. */
export function deduplicationId(message: QueueMessage): string {
  if ('bus' in message) return `${message.id}:bus:${message.test?.id ?? message.sequence}`;
  if ('watch_id' in message) return `${message.watch_id}:${message.destination_id}:${message.sequence}`;
  const { job_id, sequence, resend, attempt } = message;
  const series = `${job_id}:${sequence}:${resend}`;
  return attempt === 0 ? series : `${series}:${attempt}`;
}
