import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);

/** Environment variables of `reconcile`, which repairs executions and the queue from the state in the table. */
export const reconcileConfigSchema = z.object({
  TABLE_NAME: name,
  QUEUE_URL: z.url(),
  STATE_MACHINE_ARN: name,
  /** Retention of an ended job, in seconds. */
  RETENTION_SECONDS: count.prefault('3600'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** Stack name, which identifies logs, metrics and traces. Powertools reads it too. */
  POWERTOOLS_SERVICE_NAME: name,
});
/** Parsed environment. */
export type ReconcileConfig = z.output<typeof reconcileConfigSchema>;
/** Environment variables as the stack sets them. */
export type ReconcileEnvironment = z.input<typeof reconcileConfigSchema>;
