import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { policyEvents } from '../policies/records.ts';

const timestampSchema = z.iso.datetime();

/** Types of events that webhooks receive: all except `progress`. */
export const webhookEventTypeSchema = z.enum([
  'job_started',
  ...Object.values(policyEvents).map(({ stored }) => stored.shape.type.value),
  'error',
  'job_stopped',
]);
apiNames.add(webhookEventTypeSchema, { id: 'WebhookEventType' });
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

/** A failed delivery ends until a resend. */
export const deliveryStateSchema = z.enum(['pending', 'delivered', 'failed']);
apiNames.add(deliveryStateSchema, { id: 'DeliveryState' });

export const attemptSchema = z.object({
  at: timestampSchema,
  /** HTTP status; `null` if there was no response. */
  status: z.int().nullable(),
  latency_ms: z.int().nonnegative(),
  error: z.string().nullable(),
  /** Series that the attempt belongs to: 0, or the number of the resend. */
  resend: resendSchema,
});

/** Kind of a run, which says where its records are. */
export const runKindSchema = z.enum(['job', 'watch']);

/** Run with a log and destinations: a job, whose only destination is its webhook, or a watch. */
const runFields = { run: runKindSchema, run_id: z.uuid() };
export type RunKey = { run: z.infer<typeof runKindSchema>; run_id: string };
export type DestinationKey = RunKey & { destination_id: string };
export type DeliveryKey = DestinationKey & { sequence: number };

/** Id of the only destination of a job. */
export const webhookDestination = 'webhook';

/** One event for one destination. */
export const deliverySchema = z.object({
  ...runFields,
  sequence: z.int().positive(),
  destination_id: z.string(),
  event_type: z.string(),
  state: deliveryStateSchema,
  /** Newest `rules.maxAttemptsKept` attempts of all series, oldest first. */
  attempts: z.array(attemptSchema),
  next_attempt_at: timestampSchema.nullable(),
  /** Failure with its reason; `null` unless failed. */
  error: z.string().nullable(),
  /** Number of resends. Each starts a new series of attempts. */
  resend: resendSchema,
  /** Id of the message at the receiver: the clip of an alert may come after its closing. */
  receipt: z.string().optional(),
  /** Keyed hash of the address that accepted it. */
  fingerprint: z.string().optional(),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** Creates a pending delivery without attempts. */
export function initialDelivery(key: DeliveryKey, eventType: string): Delivery {
  const { run, run_id, sequence, destination_id } = key;
  return {
    run,
    run_id,
    sequence,
    destination_id,
    event_type: eventType,
    state: 'pending',
    attempts: [],
    next_attempt_at: null,
    error: null,
    resend: 0,
  };
}

/** State of a destination, which its attempts write. It belongs to one address: another address begins without it. */
export const destinationStateSchema = z.object({
  ...runFields,
  destination_id: z.string(),
  /** Keyed hash of the address. */
  fingerprint: z.string(),
  /** Time of the newest attempt; `null` before the first. */
  last_attempt_at: timestampSchema.nullable(),
  last_delivered_at: timestampSchema.nullable(),
  /** Time of the newest test alert; `null` before the first. */
  tested_at: timestampSchema.nullable(),
  /** Error of the newest attempt; `null` after a success. */
  last_error: z.string().nullable(),
  /** Consecutive failed attempts. */
  failures: z.int().nonnegative(),
  /**
   * Present if the destination accepts nothing any more. A new address, a successful test alert or a successful resend
   * removes it.
   */
  disabled: z.object({ at: timestampSchema, reason: z.string() }).nullable(),
  /**
   * Openings that are published for it, until an attempt of their end; `delivered` if it accepted the opening. None for
   * jobs.
   */
  notified: z.array(
    z.object({
      subject: z.string(),
      sequence: z.int().positive(),
      delivered: z.boolean(),
      /** Id of the message at the receiver. */
      receipt: z.string().optional(),
    }),
  ),
  /** Sequence of the change that removed the destination: added again, it receives nothing from before. */
  removed_at_sequence: z.int().positive().optional(),
  /** Times of the newest messages about openings of alerts, oldest first, as many as a burst begins with. */
  told: z.array(timestampSchema).optional(),
  /**
   * Events that wait for an attempt, oldest first, at most `maxWaiting`: they hold back later events of their subject.
   * None for jobs.
   */
  waiting: z.array(
    z.object({
      sequence: z.int().positive(),
      subject: z.string(),
      attempts: z.int().nonnegative(),
      resend: z.int().nonnegative(),
      /** Begin of an attempt whose result is not stored; absent without one. */
      attempted_at: timestampSchema.optional(),
    }),
  ),
});
export type WaitingEvent = DestinationState['waiting'][number];
export type DestinationState = z.infer<typeof destinationStateSchema>;

/**
 * Returns the state of a destination at its address; undefined without one. Two destinations may have the same address,
 * and one had others before.
 */
export function findState(
  { destination_id: id, fingerprint }: Pick<DestinationState, 'destination_id' | 'fingerprint'>,
  states: readonly DestinationState[],
): DestinationState | undefined {
  return states.find((state) => state.destination_id === id && state.fingerprint === fingerprint);
}

export const deliveryMessageSchema = z.object({
  ...runFields,
  sequence: z.int().positive(),
  destination_id: z.string(),
  /** Events of one subject are first attempted in the order of the log. */
  subject: z.string(),
  resend: z.int().nonnegative(),
  /** Attempts of its series when it was sent; 0 for the first. */
  attempt: z.int().nonnegative(),
  /** True if an event at the same destination ended the wait; the message of the wait itself comes later. */
  woken: z.literal(true).optional(),
});
export type DeliveryMessage = z.infer<typeof deliveryMessageSchema>;

/** Message of one event for the event bus of the deployment. */
export const busMessageSchema = z.object({
  /** Owner of the event. `test`: a test alert of a watch, which is in no log. */
  bus: z.enum(['job', 'watch', 'test']),
  /** Id of the job or of the watch. */
  id: z.uuid(),
  /** Position in the log; 0 for a test alert. */
  sequence: z.int().nonnegative(),
  /** As in `DeliveryMessage`. */
  subject: z.string(),
  /** Id and time of a test alert. */
  test: z.object({ id: z.string(), timestamp: timestampSchema }).optional(),
});
export type BusMessage = z.infer<typeof busMessageSchema>;

/** Message of the opening of an alert whose watch wants a clip. */
export const clipMessageSchema = z.object({
  /** Id of the watch. */
  clip: z.uuid(),
  /** Position of the opening in its log. */
  sequence: z.int().positive(),
});
export type ClipMessage = z.infer<typeof clipMessageSchema>;

/** Message of a watch whose moments before a time, all without one, are left to remove. */
export const forgetMessageSchema = z.object({
  /** Id of the watch. */
  forget: z.uuid(),
  before: timestampSchema.nullable(),
});
export type ForgetMessage = z.infer<typeof forgetMessageSchema>;

export const queueMessageSchema = z.union([
  deliveryMessageSchema,
  busMessageSchema,
  clipMessageSchema,
  forgetMessageSchema,
]);
export type QueueMessage = z.infer<typeof queueMessageSchema>;

/**
 * Returns the message group, whose messages are handled one after the other: one per destination and subject for first
 * attempts, which keeps the order of the log. A delivery that has failed has a group of its own, so that its retries
 * delay no other event. Events for the bus have such groups of their own.
 */
export function messageGroup(message: QueueMessage): string {
  if ('clip' in message) return `${message.clip}:clip:${message.sequence}`;
  if ('forget' in message) return `${message.forget}:forget:${message.before}`;
  if ('bus' in message) return `${message.id}:bus:${message.subject}`;
  const { run_id, destination_id, sequence, attempt } = message;
  const group = attempt === 0 ? message.subject : String(sequence);
  return `${run_id}:${destination_id}:${group}${message.woken ? ':woken' : ''}`;
}

/** Returns the id by which the queue detects a message that is sent again within five minutes. */
export function deduplicationId(message: QueueMessage): string {
  if ('clip' in message || 'forget' in message) return messageGroup(message);
  if ('bus' in message) return `${message.id}:bus:${message.test?.id ?? message.sequence}`;
  const { run_id, destination_id, sequence, resend, attempt } = message;
  return `${run_id}:${destination_id}:${sequence}:${resend}:${attempt}${message.woken ? ':woken' : ''}`;
}
