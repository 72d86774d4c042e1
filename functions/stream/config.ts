import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);
/** Comma-separated CIDRs. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/** Environment variables of `stream`: those of `api`, and the settings of event streams. */
export const streamConfigSchema = z.object({
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
  /** Maximum concurrent event streams per caller. */
  EVENT_STREAMS_PER_CALLER: count.prefault('10'),
  /** Maximum duration of an event-stream session, in seconds: 14 minutes, less than the 15 of the function. */
  EVENT_STREAM_SECONDS: count.prefault('840'),
  /** Seconds between heartbeats on an idle event stream. CloudFront closes a connection after 60 s without data. */
  HEARTBEAT_SECONDS: count.prefault('15'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,
});
/** Parsed environment. */
export type StreamConfig = z.output<typeof streamConfigSchema>;
/** Environment variables as the stack sets them. */
export type StreamEnvironment = z.input<typeof streamConfigSchema>;
