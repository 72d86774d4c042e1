import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { destinationTypeSchema } from '../records/watch.ts';
import { deliveryStateSchema, webhookEventTypeSchema } from '../records/delivery.ts';
import { count, jobId, sequence, timestamp } from './fields.ts';

/** Filter of a webhook; null for all types. */
export const visibleWebhookEvents = z
  .array(webhookEventTypeSchema)
  .nullable()
  .describe('Types of events that the webhook receives; null for all');

const attemptSchema = z.object({
  time: timestamp,
  status: z.int().nullable().describe('HTTP status; null without a response'),
  latency_ms: count,
  error: z.string().nullable(),
  resend: count.describe('0 for the original delivery, otherwise the number of the resend'),
});
apiNames.add(attemptSchema, { id: 'DeliveryAttempt' });

/** Delivery of one event to the job's webhook URL. */
export const deliverySchema = z.object({
  sequence,
  type: z.string(),
  state: deliveryStateSchema,
  resend: count.describe('Number of resends'),
  attempts: z.array(attemptSchema).describe('Oldest first'),
  next_attempt_at: timestamp.nullable(),
  error: z.string().nullable(),
});
apiNames.add(deliverySchema, { id: 'Delivery' });

export const deliveryPageSchema = z.object({
  job_id: jobId,
  webhook_url: z
    .string()
    .nullable()
    .describe('Webhook URL with masked password; null for a job without webhook'),
  webhook_events: visibleWebhookEvents,
  deliveries: z.array(deliverySchema).describe('Ordered by sequence'),
  next_after: count.describe('Value of after for the next page'),
  has_more: z.boolean(),
});
apiNames.add(deliveryPageSchema, { id: 'DeliveryPage' });

const destinationId = z.string().describe('Id of the destination');

export const watchDeliveryPageSchema = deliveryPageSchema.pick({ next_after: true, has_more: true }).extend({
  watch_id: jobId,
  deliveries: z
    .array(deliverySchema.and(z.object({ destination_id: destinationId })))
    .describe('Ordered by sequence and destination; a page ends with all deliveries of an event'),
});
apiNames.add(watchDeliveryPageSchema, { id: 'WatchDeliveryPage' });

export const resendResponseSchema = z.object({
  job_id: jobId,
  sequence,
  type: z.string(),
  resend: z.int().positive(),
  message: z.string(),
});
apiNames.add(resendResponseSchema, { id: 'Resend' });

export const watchResendResponseSchema = resendResponseSchema
  .omit({ job_id: true })
  .extend({ watch_id: jobId, destination_id: destinationId });
apiNames.add(watchResendResponseSchema, { id: 'WatchResend' });

export const webhookTestResponseSchema = z.object({
  status: z.int().nullable().describe('HTTP status of the receiver; null without a response'),
  latency_ms: count,
  error: z.string().nullable().describe('Reason of the failure; null if the receiver returned 2xx'),
});
apiNames.add(webhookTestResponseSchema, { id: 'WebhookTest' });

export const watchTestResponseSchema = z.object({
  destinations: z.array(
    webhookTestResponseSchema.extend({ destination_id: z.string(), type: destinationTypeSchema }),
  ),
});
apiNames.add(watchTestResponseSchema, { id: 'WatchTest' });

export const webhookDefaultsResponseSchema = z.object({ webhook_events: visibleWebhookEvents });
apiNames.add(webhookDefaultsResponseSchema, { id: 'WebhookDefaults' });
