import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);
/** CIDRs with commas between them. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/** The environment of the function. It may neither ask the model nor fetch from a stream: it calls the functions that may. */
export const apiConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  QUEUE_URL: z.url(),
  STATE_MACHINE_ARN: name,
  CAPTURE_FUNCTION: name,
  ANALYZE_FUNCTION: name,
  /** The 32 bytes (base64) that the callers' webhook secrets are derived from. */
  MASTER_SECRET_ARN: name,
  /** What CloudFront adds to each request. */
  ORIGIN_SECRET_ARN: name,
  /** The group that all functions log to. */
  LOG_GROUP: name,
  /** What the names of the alarms begin with that watch this deployment. */
  ALARM_PREFIX: name,
  /** The model that `analyze` asks; here only to know whether it takes video. Without one: the default of its region. */
  MODEL_ID: name.optional(),
  /** `https://HOST/api`, where a deployment has one of its own. Without: the host that CloudFront was asked for. */
  BASE_URL: z.url().optional(),
  /** Private ranges that streams may use; none but in tests. */
  ALLOW_RANGES: ranges.prefault(''),
  /** Private ranges that webhooks may use; none but in tests. */
  ALLOW_WEBHOOK_RANGES: ranges.prefault(''),
  MAX_JOB_SECONDS: count.prefault('600'),
  JOBS_PER_CALLER: count.prefault('10'),
  RETENTION_SECONDS: count.prefault('3600'),
  /** Of the endpoints that are answered at once; 0: no limit. */
  SYNC_PER_MINUTE: count.prefault('120'),
  SYNC_AT_ONCE: count.prefault('10'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** The deployment's name: what logs, metrics and traces are told apart by. Read by Powertools too. */
  POWERTOOLS_SERVICE_NAME: name,
});
export type ApiConfig = z.output<typeof apiConfigSchema>;
export type ApiEnvironment = z.input<typeof apiConfigSchema>;
