import { z } from 'zod';

const timestampSchema = z.iso.datetime();

export const attemptSchema = z.object({
  at: timestampSchema,
  /** HTTP status; null where none came. */
  status: z.int().nullable(),
  latency_ms: z.int().nonnegative(),
  error: z.string().nullable(),
});

/** One event for one webhook URL. */
export const deliverySchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  event_type: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.array(attemptSchema),
  next_attempt_at: timestampSchema.nullable(),
  /** `Failed to deliver webhook` and why, once failed. */
  error: z.string().nullable(),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** What the delivery queue carries: one group a job, so that a job's events stay in order. */
export const deliveryMessageSchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  resend: z.int().nonnegative(),
});
export type DeliveryMessage = z.infer<typeof deliveryMessageSchema>;
