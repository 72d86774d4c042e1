import { z } from 'zod';
import { deliveryStateSchema } from '../records/delivery.ts';
import { count, jobId, sequence, timestamp } from './fields.ts';

/** Answers about what became of webhooks (design section 9). */

const attemptSchema = z.object({
  time: timestamp,
  status: z.int().nullable().describe('HTTP status; null where none came'),
  latency_ms: count,
  error: z.string().nullable(),
  resend: count.describe('0 for the first sending, else the number of the resend'),
});

export const deliverySchema = z.object({
  sequence,
  type: z.string(),
  state: deliveryStateSchema,
  resend: count.describe('How often it was sent again'),
  attempts: z.array(attemptSchema).describe('Oldest first'),
  next_attempt_at: timestamp.nullable(),
  error: z.string().nullable(),
});

export const deliveryPageSchema = z.object({
  job_id: jobId,
  webhook_url: z.string().nullable().describe('A password in it is masked; null for a job without a webhook'),
  deliveries: z.array(deliverySchema).describe('In order'),
  next_after: count.describe('Send it as after to read on'),
  has_more: z.boolean(),
});

export const resendResponseSchema = z.object({
  job_id: jobId,
  sequence,
  type: z.string(),
  resend: z.int().positive(),
  message: z.string(),
});

export const webhookTestResponseSchema = z.object({
  status: z.int().nullable().describe('HTTP status of the receiver; null where no answer came'),
  latency_ms: count,
  error: z.string().nullable().describe('null where the receiver answered with 2xx'),
});
