import { policySchema } from '../../../../core/records/run.ts';
import { readRunId, shards } from '../table/keys.ts';
import { repairShard } from './run-item.ts';
import { queryRepairIndex } from './run-store.ts';
import type { Table } from '../table/table.ts';

/** Reads of the repair index by shard, so that several invocations of `reconcile` share its entries. */
export type RepairShards = ReturnType<typeof createRepairShards>;

/** Creates the reads by shard. They read the index only, never the records. */
export function createRepairShards(table: Table) {
  return {
    /**
     * Counts the due entries, up to `limit` of jobs and of watches per shard. An entry may be due for nothing: its
     * time is in whole minutes.
     */
    countDue: async (now: Date, limit: number) =>
      Promise.all(
        shards.map(async (shard) => ({ shard, entries: (await listDue(shard, now, limit)).length })),
      ),
    listDue,
  };

  /** Lists what may be due in one shard: of jobs, then of watches, longest due first. */
  async function listDue(shard: string, now: Date, limit: number) {
    const partitions = new Set(policySchema.options.map((policy) => repairShard(policy, shard)));
    const keys = await Promise.all(
      [...partitions].map((partition) => queryRepairIndex(table, partition, { before: now, limit })),
    );
    return keys.flat().map(readRunId);
  }
}
