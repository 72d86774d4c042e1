import { z } from 'zod';
import { readExecutionName } from '../../adapters/aws/execution-name.ts';
import { shardFor, shards } from '../../adapters/aws/dynamodb/table/keys.ts';
import type { RepairShards } from '../../adapters/aws/dynamodb/runs/repair-shards.ts';
import type { InvokeLater } from '../../adapters/aws/invoke/invoke.ts';
import { repairListed, type RepairDeps } from '../../core/workflow/repair.ts';
import type { Executions } from '../../core/ports/executions.ts';

/**
 * Invocation for one shard of the repair index. `reconcile` sends it to itself, and answers it without a further one.
 */
export const shardEventSchema = z.object({
  shard: z.enum(shards),
  /** Names of the running executions of the shard; null if there are too many to list. */
  running: z.array(z.string()).nullable(),
});
type ShardEvent = z.output<typeof shardEventSchema>;

export type FanOutDeps = {
  repairShards: RepairShards;
  /** Lists the running executions of all jobs. Returns undefined if there are too many. */
  listRunning: () => Promise<string[] | undefined>;
  invokeLater: InvokeLater;
  /** Returns executions whose status is that of a list, and whose starts share the quota with the other shards. */
  createShardExecutions: (running: ReadonlySet<string> | null) => Executions;
};

type Deps = RepairDeps & FanOutDeps;

/**
 * Starts of one shard. All 16 stay below the smallest quota of StartExecution: a burst of 800, then 150 per second
 * (docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html); callers create jobs meanwhile.
 */
export const startPace = { burst: 45, startsPerSecond: 9 };
/** Maximum jobs, and watches, of one invocation; the sweep of the next minute finds the rest. */
const maxPerShard = 2_000;
/** Concurrent repairs of one invocation: most of their time is waiting. */
const repairsAtOnce = 8;

/** Place of the repairs: invocations for shards, this run, or no place without due work. */
export type RepairPlace = 'shards' | 'here' | 'nowhere';

/**
 * Invokes this function once for each shard with due entries, if there are more of them than one run repairs in time.
 */
export async function fanOut(
  deps: Deps,
  { functionArn, maxEntries }: { functionArn: string; maxEntries: number },
): Promise<RepairPlace> {
  const { repairShards, invokeLater, log, now } = deps;
  try {
    const due = (await repairShards.countDue(now(), maxEntries)).filter(({ entries }) => entries > 0);
    const entries = due.reduce((sum, { entries: count }) => sum + count, 0);
    if (entries <= maxEntries) return entries === 0 ? 'nowhere' : 'here';
    const running = await listByShard(deps);
    for (const { shard } of due) {
      const event: ShardEvent = { shard, running: running && (running.get(shard) ?? []) };
      await invokeLater(functionArn, event);
    }
    log.warning('Much work was interrupted; each shard is repaired by an invocation of its own', {
      entries_at_least: entries,
      shards: due.length,
    });
    return 'shards';
  } catch (error) {
    log.error('Repairs could not be shared; this run repairs what it can', { error: String(error) });
    return 'here';
  }
}

export async function repairShard({ shard, running }: ShardEvent, deps: Deps, endBy: Date): Promise<void> {
  const ids = await deps.repairShards.listDue(shard, deps.now(), maxPerShard);
  const executions = deps.createShardExecutions(running && new Set(running));
  await repairListed(ids, { ...deps, executions }, { endBy, atOnce: repairsAtOnce });
}

/**
 * Returns the names of running executions by shard. Returns null if they cannot be listed: each status is then
 * requested.
 */
async function listByShard({ listRunning, log }: Deps): Promise<Map<string, string[]> | null> {
  const names = await listRunning().catch((error: unknown) => {
    log.warning('Executions could not be listed', { error: String(error) });
    return undefined;
  });
  if (names === undefined) return null;
  const byShard = new Map<string, string[]>();
  for (const name of names) {
    const execution = readExecutionName(name);
    if (execution === undefined) continue;
    const shard = shardFor(execution.run_id);
    const listed = byShard.get(shard);
    if (listed === undefined) byShard.set(shard, [name]);
    else listed.push(name);
  }
  return byShard;
}
