import { readRunId, shards } from '../table/keys.ts';
import { repairShard } from './run-item.ts';
import { queryRepairIndex } from './run-store.ts';
import type { Table } from '../table/table.ts';

/** Reads of the repair index by shard, so that several invocations of `reconcile` share its entries. */
export type RepairShards = {
  /**
   * Counts the due entries of jobs and watches, up to `limit` of each per shard. An entry may be due for nothing: its time is in whole
   * minutes.
   */
  countDue(now: Date, limit: number): Promise<DueShard[]>;
  /** Lists what may be due in one shard, longest due first. */
  listDue(shard: string, now: Date, limit: number): Promise<{ jobIds: string[]; watchIds: string[] }>;
};

/** Shard of the repair index, and the number of its due entries. */
export type DueShard = { shard: string; entries: number };

/** Creates the reads by shard. They read the index only, never the records. */
export function createRepairShards(table: Table): RepairShards {
  return {
    countDue: async (now, limit) =>
      Promise.all(
        shards.map(async (shard) => {
          const { jobIds, watchIds } = await listDue(shard, now, limit);
          return { shard, entries: jobIds.length + watchIds.length };
        }),
      ),
    listDue,
  };

  async function listDue(shard: string, now: Date, limit: number) {
    const [jobIds, watchIds] = await Promise.all([
      listIds(repairShard('monitor', shard), now, limit),
      listIds(repairShard('watch', shard), now, limit),
    ]);
    return { jobIds, watchIds };
  }

  async function listIds(partition: string, now: Date, limit: number): Promise<string[]> {
    return (await queryRepairIndex(table, partition, { before: now, limit })).map(readRunId);
  }
}
