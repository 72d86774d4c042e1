import { z } from 'zod';

const count = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const name = z.string().min(1);

/** The environment of the function: it repairs jobs, executions and the queue from what the table says. */
export const reconcileConfigSchema = z.object({
  TABLE_NAME: name,
  QUEUE_URL: z.url(),
  STATE_MACHINE_ARN: name,
  RETENTION_SECONDS: count.prefault('3600'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warning', 'error']).prefault('info'),
  /** The deployment's name: what logs, metrics and traces are told apart by. Read by Powertools too. */
  POWERTOOLS_SERVICE_NAME: name,
});
export type ReconcileConfig = z.output<typeof reconcileConfigSchema>;
export type ReconcileEnvironment = z.input<typeof reconcileConfigSchema>;
