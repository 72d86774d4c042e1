import { z } from 'zod';
import { flag, integer, streamUrl, webhookUrl } from './fields.ts';

/** `POST /live-digest` (interface section 4.3). */
export const digestRequestSchema = z.object({
  stream_url: streamUrl,
  window_minutes: integer(z.int().min(1).max(60)).default(10).describe('Minutes that one summary covers'),
  webhook_url: webhookUrl.nullish(),
  capture_interval_seconds: integer(z.int().min(10).max(300))
    .default(60)
    .describe('Seconds from one sample to the next'),
  max_windows: integer(z.int().min(1))
    .nullable()
    .default(null)
    .describe('After how many summaries the job is done; null: when its duration is over'),
  include_frames: flag.default(false).describe('Whether summaries carry the samples as one picture'),
  enable_prefilter: flag.default(true).describe('Whether samples in which nothing moved are left out'),
});
export type DigestRequest = z.infer<typeof digestRequestSchema>;
