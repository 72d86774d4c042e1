import { z } from 'zod';
import { inputModeSchema } from '../records/capture.ts';
import { condition, flag, integer, streamUrl, webhookUrl } from './fields.ts';

/** `POST /live-monitor` (interface section 4.2). */
export const monitorRequestSchema = z.object({
  stream_url: streamUrl,
  condition,
  webhook_url: webhookUrl.nullish(),
  interval_seconds: integer(z.int().min(5).max(300))
    .default(10)
    .describe('Seconds from one check to the next'),
  input_mode: inputModeSchema
    .optional()
    .describe('What is captured; left out: clip, or frames where the model takes no video'),
  clip_duration_seconds: integer(z.int().min(1).max(10))
    .default(3)
    .describe('Length of a clip; used with clip and hybrid'),
  monitor_duration_seconds: integer(z.int().min(5))
    .default(600)
    .describe('How long to watch; clamped to the cap of the server, visible in config'),
  trigger_cooldown_seconds: integer(z.int().min(0).max(3600))
    .default(0)
    .describe('Least seconds from one alert to the next'),
  max_triggers: integer(z.int().min(1))
    .nullable()
    .default(1)
    .describe('After how many alerts the job is done; null: not before its duration is over'),
  enable_prefilter: flag
    .default(true)
    .describe('Whether the model is spared captures in which nothing moved'),
});
export type MonitorRequest = z.infer<typeof monitorRequestSchema>;
