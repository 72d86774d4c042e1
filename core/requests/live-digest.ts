import { z } from 'zod';
import { flag, integer, streamUrl, jobWebhookEvents, webhookUrl, labels } from './fields.ts';

/** Body of `POST /live-digest` (interface section 4.3). */
export const digestRequestSchema = z.object({
  stream_url: streamUrl,
  window_minutes: integer(z.int().min(1).max(60))
    .default(10)
    .describe('Length of a window in minutes; each window has one summary'),
  webhook_url: webhookUrl.nullish(),
  webhook_events: jobWebhookEvents,
  capture_interval_seconds: integer(z.int().min(10).max(300))
    .default(60)
    .describe('Seconds between captures'),
  max_windows: integer(z.int().min(1))
    .nullable()
    .default(null)
    .describe('Number of summaries after which the job completes; null: at the end of its duration'),
  include_frames: flag.default(false).describe('True to include a frame grid of the samples in summaries'),
  enable_prefilter: flag.default(true).describe('True to skip captures without motion'),
  labels,
});
export type DigestRequest = z.infer<typeof digestRequestSchema>;
