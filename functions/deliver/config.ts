import { z } from 'zod';

const name = z.string().min(1);
/** Comma-separated CIDRs. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/** Environment variables of `deliver`, which reads events and images and sends webhooks. */
export const deliverConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  /** URL of the delivery queue, to set the visibility timeout of messages. */
  QUEUE_URL: z.url(),
  /** ARN of the master secret (32 bytes in base64), from which webhook secrets are derived. */
  MASTER_SECRET_ARN: name,
  /** Public base URL for links in events, `https://HOST/api`; required, because there is no request of a viewer. */
  BASE_URL: z.url(),
  /** Private ranges that webhooks may use. Default: none; for tests. */
  ALLOW_WEBHOOK_RANGES: ranges.prefault(''),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,
});
/** Parsed environment. */
export type DeliverConfig = z.output<typeof deliverConfigSchema>;
/** Environment variables as the stack sets them. */
export type DeliverEnvironment = z.input<typeof deliverConfigSchema>;
