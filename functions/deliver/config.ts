import type { z } from 'zod';
import { functionSettings, mailSettings, sharedSettings } from '../../adapters/aws/function-settings.ts';

/**
 * Environment variables of `deliver`, which reads events and images and sends webhooks. `BASE_URL` is required for
 * links in events, because there is no request of a viewer.
 */
export const deliverConfigSchema = functionSettings
  .pick({
    ...sharedSettings,
    TABLE_NAME: true,
    MEDIA_BUCKET: true,
    QUEUE_URL: true,
    CAPTURE_FUNCTION: true,
    EVENT_BUS: true,
    MASTER_SECRET_ARN: true,
    BASE_URL: true,
    MODEL: true,
    ALLOW_WEBHOOK_RANGES: true,
    DENY_RANGES: true,
    ...mailSettings,
  })
  .required({ BASE_URL: true });
export type DeliverConfig = z.output<typeof deliverConfigSchema>;
export type DeliverEnvironment = z.input<typeof deliverConfigSchema>;
