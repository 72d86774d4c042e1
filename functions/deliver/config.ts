import { z } from 'zod';

const name = z.string().min(1);
/** CIDRs with commas between them. */
const ranges = z.string().transform((text) => text.split(',').flatMap((range) => range.trim() || []));

/** The environment of the function: it reads events and pictures, and sends them out. */
export const deliverConfigSchema = z.object({
  TABLE_NAME: name,
  MEDIA_BUCKET: name,
  /** The queue that it is fed from, to say when a message comes again. */
  QUEUE_URL: z.url(),
  /** The 32 bytes (base64) that the callers' webhook secrets are derived from. */
  MASTER_SECRET_ARN: name,
  /** `https://HOST/api`, for links in events: no viewer's request says it here. */
  BASE_URL: z.url(),
  /** Private ranges that webhooks may use; none but in tests. */
  ALLOW_WEBHOOK_RANGES: ranges.prefault(''),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** The deployment's name: what logs, metrics and traces are told apart by. Read by Powertools too. */
  POWERTOOLS_SERVICE_NAME: name,
});
export type DeliverConfig = z.output<typeof deliverConfigSchema>;
export type DeliverEnvironment = z.input<typeof deliverConfigSchema>;
