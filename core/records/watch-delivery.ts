import { z } from 'zod';
import { attemptSchema, deliveryStateSchema } from './delivery.ts';

const timestampSchema = z.iso.datetime();

/** One event of a watch for one destination. `failed` is final. */
export const watchDeliverySchema = z.object({
  watch_id: z.uuid(),
  sequence: z.int().positive(),
  destination_id: z.string(),
  event_type: z.string(),
  state: deliveryStateSchema,
  /** Newest `rules.maxAttemptsKept` attempts, oldest first. */
  attempts: z.array(attemptSchema),
  next_attempt_at: timestampSchema.nullable(),
  /** True if the destination accepts nothing any more. */
  gone: z.boolean(),
  /** `Failed to deliver` with the reason; `null` unless failed. */
  error: z.string().nullable(),
  /** 0: events of watches are not sent again. */
  resend: z.literal(0),
});
export type WatchDelivery = z.infer<typeof watchDeliverySchema>;

/** Creates a pending delivery without attempts. */
export function initialWatchDelivery(
  key: Pick<WatchDelivery, 'watch_id' | 'sequence' | 'destination_id'>,
  eventType: string,
): WatchDelivery {
  return {
    watch_id: key.watch_id,
    sequence: key.sequence,
    destination_id: key.destination_id,
    event_type: eventType,
    state: 'pending',
    attempts: [],
    next_attempt_at: null,
    gone: false,
    error: null,
    resend: 0,
  };
}

/** State of a destination, which its attempts write. It belongs to one address: another address begins without it. */
export const destinationStateSchema = z.object({
  watch_id: z.uuid(),
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
  /** Present if the destination accepts nothing any more. A new address or a successful test alert removes it. */
  disabled: z.object({ at: timestampSchema, reason: z.string() }).nullable(),
});
export type DestinationState = z.infer<typeof destinationStateSchema>;
