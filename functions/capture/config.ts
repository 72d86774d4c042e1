import { z } from 'zod';

const name = z.string().min(1);
/** CIDRs with commas between them. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/**
 * The environment of the function. All hostile bytes are fetched and decoded here, so there is nothing worth stealing: it may read `SOURCE#`
 * items of the table and write pictures, and knows no queue, no model, and no secret but the one that an operator chose to give it.
 */
export const captureConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  /** Where the layer puts it. */
  FFMPEG_PATH: name.prefault('/opt/bin/ffmpeg'),
  /** Private ranges that streams may use; none but in tests. */
  ALLOW_RANGES: ranges.prefault(''),
  /** Applications to ask YouTube as, by their names in youtubei.js with commas between them: which are let in changes. */
  YOUTUBE_CLIENTS: z
    .string()
    .regex(/^[A-Z_]+(,[A-Z_]+)*$/, 'must be names such as VISIONOS,WEB')
    .transform((text) => text.split(','))
    .optional(),
  /** A secret with accounts and proxies for platforms: see `createPlatformSecret`. */
  PLATFORM_SECRET_ARN: name.optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** The deployment's name: what logs, metrics and traces are told apart by. Read by Powertools too. */
  POWERTOOLS_SERVICE_NAME: name,
});
export type CaptureConfig = z.output<typeof captureConfigSchema>;
export type CaptureEnvironment = z.input<typeof captureConfigSchema>;
