import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { readExecutionName } from '../../adapters/aws/execution-name.ts';
import { countTokens, readUsageToday, selectLargestUses } from '../../core/access/caller-usage.ts';
import { repairDue, repairRun } from '../../core/workflow/repair.ts';
import { countWatches } from '../../core/observability/metrics.ts';
import type { ReconcileFunctionDeps } from './dependencies.ts';
import { fanOut, repairShard, shardEventSchema } from './fan-out.ts';

const eventSchema = z.union([
  shardEventSchema,
  z.object({ 'detail-type': z.literal('Scheduled Event') }),
  z.object({
    'detail-type': z.literal('Step Functions Execution Status Change'),
    detail: z.object({ name: z.string(), status: z.enum(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']) }),
  }),
]);

const statuses = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  ABORTED: 'aborted',
} as const;

/**
 * Creates the handler: repairs all due jobs every minute, and one job when its execution ends. EventBridge events may
 * be repeated, late or lost, so a repair reads the current state. Rethrows errors: Lambda retries twice.
 */
export function createHandler(deps: ReconcileFunctionDeps) {
  return (event: unknown, context: Context): Promise<void> =>
    deps.during(context, async () => {
      const change = eventSchema.parse(event);
      if ('shard' in change) return repairShard(change, deps, readEnd(deps, context, shardReserveMs));
      if (change['detail-type'] === 'Scheduled Event') return sweep(deps, context);
      const { name, status } = change.detail;
      const execution = readExecutionName(name);
      if (!execution) return;
      const ended = { generation: execution.generation, status: statuses[status] };
      await repairRun(execution.run_id, deps, ended);
    });
}

/** Maximum jobs and watches that one invocation repairs itself; above, invocations for each shard share them. */
const maxRuns = 200;
/** Time reserved for the last repairs, and the metrics that follow them, before the timeout, in milliseconds. */
const sweepReserveMs = 20_000;
/** Time reserved for the last repairs of a shard: a request is repeated for four seconds. */
const shardReserveMs = 12_000;

function readEnd({ now }: ReconcileFunctionDeps, context: Context, reserveMs: number): Date {
  return new Date(now().getTime() + context.getRemainingTimeInMillis() - reserveMs);
}

async function sweep(deps: ReconcileFunctionDeps, context: Context): Promise<void> {
  const now = deps.now();
  const endBy = readEnd(deps, context, sweepReserveMs);
  const place = await fanOut(deps, { functionArn: context.invokedFunctionArn, maxEntries: maxRuns });
  if (place === 'here') await repairDue(deps, { dueBy: now, limit: maxRuns, endBy });
  deps.measurements.add('OpenEventStreams', await deps.countEventStreams());
  if (now.getUTCMinutes() % healthMinutes === 0) {
    await measureWatches(deps);
    await measureCallers(deps);
  }
}

/** Reads all standing watches, which costs up to a read unit each: every five minutes suffices for an alarm. */
const healthMinutes = 5;

/** Reports the use of today of the callers with the highest price: a bound, because each caller is a series. */
async function measureCallers(deps: ReconcileFunctionDeps): Promise<void> {
  const { measurements, maxCallerMetrics } = deps;
  if (maxCallerMetrics === 0) return;
  for (const { caller, use } of selectLargestUses(await readUsageToday(deps), maxCallerMetrics)) {
    measurements.add('TokensToday', countTokens(use), caller);
    measurements.add('CostUsdToday', use.micro_usd / 1_000_000, caller);
  }
}

async function measureWatches({ watches, measurements, now }: ReconcileFunctionDeps): Promise<void> {
  const numbers = countWatches(await watches.standing(), now());
  measurements.add('WatchesBlind', numbers.stream_lost + numbers.budget_exhausted);
  measurements.add('WatchesLate', numbers.late + numbers.unjudged);
  measurements.add('WatchesUnheard', numbers.destinations_failing);
}
