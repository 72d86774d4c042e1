import { policySchema } from '../../../../core/records/run.ts';
import { readRunId, shards } from '../table/keys.ts';
import { repairShard } from './run-item.ts';
import { queryRepairIndex } from './run-store.ts';
import type { Table } from '../table/table.ts';

/** Reads of the repair index by shard, so that several invocations of `reconcile` share its entries. */
export type RepairShards = {
  /**
   * Counts the due entries, up to `limit` of jobs and of watches per shard. An entry may be due for nothing: its time
   * is in whole minutes.
   */
  countDue(now: Date, limit: number): Promise<DueShard[]>;
  /** Lists what may be due in one shard: of jobs, then of watches, longest due first. */
  listDue(shard: string, now: Date, limit: number): Promise<string[]>;
};

export type DueShard = { shard: string; entries: number };

/** Creates the reads by shard. They read the index only, never the records. */
export function createRepairShards(table: Table): RepairShards {
  return {
    countDue: async (now, limit) =>
      Promise.all(
        shards.map(async (shard) => ({ shard, entries: (await listDue(shard, now, limit)).length })),
      ),
    listDue,
  };

  async function listDue(shard: string, now: Date, limit: number) {
    const partitions = new Set(policySchema.options.map((policy) => repairShard(policy, shard)));
    const keys = await Promise.all(
      [...partitions].map((partition) => queryRepairIndex(table, partition, { before: now, limit })),
    );
    return keys.flat().map(readRunId);
  }
}
