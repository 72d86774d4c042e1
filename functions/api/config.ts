import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);
/** Comma-separated CIDRs. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/** Environment variables of `api`. It invokes other functions to call the model and to fetch streams. */
export const apiConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  QUEUE_URL: z.url(),
  STATE_MACHINE_ARN: name,
  CAPTURE_FUNCTION: name,
  ANALYZE_FUNCTION: name,
  /** ARN of the master secret (32 bytes in base64), from which webhook secrets are derived. */
  MASTER_SECRET_ARN: name,
  /** ARN of the secret that CloudFront adds to each request. */
  ORIGIN_SECRET_ARN: name,
  /** Log group of all functions. */
  LOG_GROUP: name,
  /** Name prefix of the alarms of this stack. */
  ALARM_PREFIX: name,
  /** Model of `analyze`, read only for its video support. Default: that of the region. */
  MODEL_ID: name.optional(),
  /** Public base URL of a custom domain, `https://HOST/api`. Default: the host of the viewer's request. */
  BASE_URL: z.url().optional(),
  /** Private ranges that streams may use. Default: none; for tests. */
  ALLOW_RANGES: ranges.prefault(''),
  /** Private ranges that webhooks may use. Default: none; for tests. */
  ALLOW_WEBHOOK_RANGES: ranges.prefault(''),
  /** Maximum duration of a job, in seconds. */
  MAX_JOB_SECONDS: count.prefault('600'),
  /** Maximum concurrent jobs per caller. */
  JOBS_PER_CALLER: count.prefault('10'),
  /** Retention of an ended job, in seconds. */
  RETENTION_SECONDS: count.prefault('3600'),
  /** Rate limit of synchronous endpoints per caller and minute; 0 disables it. */
  SYNC_PER_MINUTE: count.prefault('120'),
  /** Concurrency limit of synchronous endpoints per caller; 0 disables it. */
  SYNC_AT_ONCE: count.prefault('10'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,
});
/** Parsed environment. */
export type ApiConfig = z.output<typeof apiConfigSchema>;
/** Environment variables as the stack sets them. */
export type ApiEnvironment = z.input<typeof apiConfigSchema>;
