import { z } from 'zod';
import { webhookEventTypeSchema } from '../records/delivery.ts';
import { digestConfigSchema, monitorConfigSchema, stopReasonSchema } from '../records/job.ts';

const visible = {
  webhook_url: z.string().optional().describe('Webhook URL with masked password'),
  webhook_events: z
    .array(webhookEventTypeSchema)
    .optional()
    .describe('Types of events that the webhook receives; absent: all'),
  labels: z.array(z.string()).optional().describe('Labels of the job; absent without any'),
};

const delivered = {
  delivery: z.enum(['polling', 'webhook']).describe('Delivery mode of events'),
  reason: stopReasonSchema.nullable().describe("Reason of the job's end; null for an active job"),
};

/** Configuration of a monitor. */
export const monitorConfigResponseSchema = monitorConfigSchema.extend(visible);
/** Configuration of a digest. */
export const digestConfigResponseSchema = digestConfigSchema.extend(visible);

/** Configuration of a job, after defaults and clamping. */
export const jobConfigSchema = z.union([monitorConfigResponseSchema, digestConfigResponseSchema]);

/** Configurations in lists and creation responses, which have no stats. */
export const monitorDetailsSchema = monitorConfigResponseSchema.extend(delivered);
export const digestDetailsSchema = digestConfigResponseSchema.extend(delivered);
export const jobDetailsSchema = z.union([monitorDetailsSchema, digestDetailsSchema]);

/** Differences between the request and the job. */
export const noticesSchema = z
  .array(z.string())
  .describe(
    'Differences between the request and the job: limits, ignored fields, conditions that fit no check',
  );
