import type { z } from 'zod';
import { functionSettings, sharedSettings } from '../../adapters/aws/function-settings.ts';

/** Environment variables of `reconcile`, which repairs executions and the queue from the state in the table. */
export const reconcileConfigSchema = functionSettings.pick({
  ...sharedSettings,
  TABLE_NAME: true,
  QUEUE_URL: true,
  EVENT_BUS: true,
  STATE_MACHINE_ARN: true,
  OTHER_STATE_MACHINE_ARN: true,
  RETENTION_SECONDS: true,
  EVENT_STREAMS: true,
  CALLER_METRICS: true,
});
export type ReconcileConfig = z.output<typeof reconcileConfigSchema>;
export type ReconcileEnvironment = z.input<typeof reconcileConfigSchema>;
