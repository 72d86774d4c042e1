import { z } from 'zod';
import { inputModeSchema } from '../records/capture.ts';
import { condition, flag, integer, streamUrl, jobWebhookEvents, webhookUrl, labels } from './fields.ts';

/** Body of `POST /live-monitor` (interface section 4.2). */
export const monitorRequestSchema = z.object({
  stream_url: streamUrl,
  condition,
  webhook_url: webhookUrl.nullish(),
  webhook_events: jobWebhookEvents,
  interval_seconds: integer(z.int().min(5).max(300)).default(10).describe('Seconds between checks'),
  input_mode: inputModeSchema
    .optional()
    .describe('Media to capture; default: clip, or frames if the model does not support video'),
  clip_duration_seconds: integer(z.int().min(1).max(10))
    .default(3)
    .describe('Clip length in seconds; used by clip and hybrid'),
  monitor_duration_seconds: integer(z.int().min(5))
    .default(600)
    .describe('Duration in seconds; limited by the server, see config for the resulting value'),
  trigger_cooldown_seconds: integer(z.int().min(0).max(3600))
    .default(0)
    .describe('Minimum seconds between alerts'),
  max_triggers: integer(z.int().min(1))
    .nullable()
    .default(1)
    .describe('Number of alerts after which the job completes; null: at the end of its duration'),
  enable_prefilter: flag.default(true).describe('True to skip captures without motion'),
  look_back: flag
    .default(false)
    .describe('True to scan all of the stream since the last check, and to judge the moments that differ'),
  labels,
});
export type MonitorRequest = z.infer<typeof monitorRequestSchema>;
