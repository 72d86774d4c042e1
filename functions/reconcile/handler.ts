import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { readExecutionName } from '../../adapters/aws/execution-name.ts';
import { reconcile, repairJob } from '../../core/operations/reconcile.ts';
import type { ReconcileDependencies } from './dependencies.ts';

const eventSchema = z.discriminatedUnion('detail-type', [
  z.object({ 'detail-type': z.literal('Scheduled Event') }),
  z.object({
    'detail-type': z.literal('Step Functions Execution Status Change'),
    detail: z.object({ name: z.string(), status: z.string() }),
  }),
]);

/**
 * Repairs what a crash left half done: each minute all that is due, and at once the job whose execution ended. Events of EventBridge may come twice,
 * late or not at all; a repair looks at what is true now. One that fails is thrown: Lambda tries twice more.
 */
export function createHandler(c: ReconcileDependencies) {
  return (event: unknown, context: Context): Promise<void> =>
    c.during(context, async () => {
      const change = eventSchema.parse(event);
      if (change['detail-type'] === 'Scheduled Event') return sweep(c, context);
      const execution = readExecutionName(change.detail.name);
      if (execution) await repairJob(execution.job_id, c);
    });
}

const jobsASweep = 500;
/** For the repair that was begun just in time. */
const reserveMs = 20_000;

async function sweep(c: ReconcileDependencies, context: Context): Promise<void> {
  const now = c.now();
  const endBy = new Date(now.getTime() + context.getRemainingTimeInMillis() - reserveMs);
  await reconcile(c, { dueBy: now, limit: jobsASweep, endBy });
}
