import { z } from 'zod';
import { inputModeSchema } from './capture.ts';
import { jobStatusSchema, jobTypeSchema } from './job.ts';

/**
 * What callers send (interface section 4). The one rule of coercion (design section 10): integers take integral numbers
 * and decimal strings, booleans take true, false and their names, strings take strings only. Unknown fields are ignored.
 */

const decimal = /^[+-]?\d{1,15}$/;

function integer(schema: z.ZodInt) {
  return z.preprocess(
    (value) => (typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : value),
    schema,
  );
}

const flag = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const name = value.toLowerCase();
  return name === 'true' ? true : name === 'false' ? false : value;
}, z.boolean());

const streamUrl = z.string().min(1).max(500);
const condition = z.string().min(1).max(1000);
const webhookUrl = z.string().min(1).max(2083);

export const monitorRequestSchema = z.object({
  stream_url: streamUrl,
  condition,
  webhook_url: webhookUrl.nullish(),
  interval_seconds: integer(z.int().min(5).max(300)).default(10),
  /** Left out: `clip`, or `frames` where the model takes no video. */
  input_mode: inputModeSchema.optional(),
  clip_duration_seconds: integer(z.int().min(1).max(10)).default(3),
  monitor_duration_seconds: integer(z.int().min(5)).default(600),
  trigger_cooldown_seconds: integer(z.int().min(0).max(3600)).default(0),
  max_triggers: integer(z.int().min(1)).nullable().default(1),
  enable_prefilter: flag.default(true),
});
export type MonitorRequest = z.infer<typeof monitorRequestSchema>;

export const jobListQuerySchema = z.object({
  status: jobStatusSchema.optional(),
  job_type: jobTypeSchema.optional(),
  limit: integer(z.int().min(1).max(100)).default(20),
  offset: integer(z.int().min(0)).default(0),
});

export const eventsQuerySchema = z.object({
  after: integer(z.int().min(0)).default(0),
  limit: integer(z.int().min(1).max(1000)).default(200),
});

export const jobPathSchema = z.object({ job_id: z.guid() });
export const mediaPathSchema = z.object({ job_id: z.guid(), sequence: integer(z.int().min(1)) });
