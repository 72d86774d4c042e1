import { z } from 'zod';
import { shards } from './keys.ts';
import { readItem } from './record.ts';
import { toEpochMinute } from './repair-due.ts';
import { keyPrefixes, repair, watchShard } from './table-layout.ts';
import type { Table } from './table.ts';

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
      listIds(shard, keyPrefixes.job, now, limit),
      listIds(`${watchShard}${shard}`, keyPrefixes.watch, now, limit),
    ]);
    return { jobIds, watchIds };
  }

  async function listIds(partition: string, prefix: string, now: Date, limit: number): Promise<string[]> {
    const items = await table.query({
      index: repair.name,
      where: '#repair_shard = :shard AND #repair_due <= :minute',
      values: { ':shard': partition, ':minute': toEpochMinute(now) },
      limit,
    });
    return items.map((item) => readItem(keySchema, item).pk.slice(prefix.length));
  }
}

const keySchema = z.object({ pk: z.string() });
