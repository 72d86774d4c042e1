import { z } from 'zod';
import { inputModeSchema } from '../capture.ts';
import { condition, flag, integer, streamUrl, webhookUrl } from './fields.ts';

/** `POST /live-monitor` (interface section 4.2). */
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
