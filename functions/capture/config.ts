import { z } from 'zod';

const name = z.string().min(1);
/** Comma-separated CIDRs. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/**
 * Environment variables of `capture`, which fetches and decodes untrusted media. It may read `SOURCE#` items and write
 * captures. It has no queue, no model, and no secret except the optional platform secret.
 */
export const captureConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  /** Path of ffmpeg. Default: that of the layer. */
  FFMPEG_PATH: name.prefault('/opt/bin/ffmpeg'),
  /** Private ranges that streams may use. Default: none; for tests. */
  ALLOW_RANGES: ranges.prefault(''),
  /** Comma-separated YouTube clients, by their names in youtubei.js: which work changes. */
  YOUTUBE_CLIENTS: z
    .string()
    .regex(/^[A-Z_]+(,[A-Z_]+)*$/, 'must be names such as VISIONOS,WEB')
    .transform((text) => text.split(','))
    .optional(),
  /** ARN of a secret with accounts and proxies for platforms (`createPlatformSecret`). */
  PLATFORM_SECRET_ARN: name.optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,
});
/** Parsed environment. */
export type CaptureConfig = z.output<typeof captureConfigSchema>;
/** Environment variables as the stack sets them. */
export type CaptureEnvironment = z.input<typeof captureConfigSchema>;
