import type { z } from 'zod';
import { functionSettings, sharedSettings } from '../../adapters/aws/function-settings.ts';

/**
 * Environment variables of `capture`, which fetches and decodes untrusted media. It may read `SOURCE#` items and motion
 * references, and write captures. It has no queue, no model, and no secret except the optional platform secret.
 */
export const captureConfigSchema = functionSettings.pick({
  ...sharedSettings,
  TABLE_NAME: true,
  MEDIA_BUCKET: true,
  FFMPEG_PATH: true,
  ALLOW_RANGES: true,
  DENY_RANGES: true,
  YOUTUBE_CLIENTS: true,
  PLATFORM_SECRET_ARN: true,
});
export type CaptureConfig = z.output<typeof captureConfigSchema>;
export type CaptureEnvironment = z.input<typeof captureConfigSchema>;
