import { z } from 'zod';
import { apiNames } from '../../api-names.ts';
import { flag, integer, streamUrl, jobWebhookEvents, webhookUrl, labels } from '../../requests/fields.ts';
import { rules } from '../../rules.ts';
import { limitNotice, type PlanDeps } from '../job/policy.ts';
import { digestRecords, type DigestConfig } from './records.ts';

/** Body of `POST /live-digest`. */
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
apiNames.add(digestRequestSchema, { id: 'DigestRequest' });
type DigestRequest = z.infer<typeof digestRequestSchema>;

export function planDigest(request: DigestRequest, { limits }: Pick<PlanDeps, 'limits'>) {
  const config: DigestConfig = {
    window_minutes: request.window_minutes,
    capture_interval_seconds: request.capture_interval_seconds,
    max_windows: request.max_windows,
    digest_duration_seconds: computeDuration(request, limits.maxJobSeconds),
    input_mode: 'frames',
    include_frames: request.include_frames,
    enable_prefilter: request.enable_prefilter,
  };
  const wantedSeconds = (request.max_windows ?? 0) * request.window_minutes * 60;
  return {
    fields: { policy: 'digest', config, state: digestRecords.initialState } as const,
    capture: { input_mode: config.input_mode, clip_duration_seconds: 0 },
    notices: [limitNotice(wantedSeconds, config.digest_duration_seconds)],
  };
}

/**
 * Returns the time of all windows, at most a day. Without a number of windows, returns the server cap, at least one
 * window.
 */
function computeDuration({ window_minutes, max_windows }: DigestRequest, serverCapSeconds: number): number {
  const windowSeconds = window_minutes * 60;
  if (max_windows === null) return Math.max(serverCapSeconds, windowSeconds);
  return Math.min(max_windows * windowSeconds, rules.maxJobDurationSeconds);
}
