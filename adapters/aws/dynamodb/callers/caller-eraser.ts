import { z } from 'zod';
import type { CallerEraser, CallerWork } from '../../../../core/ports/caller-store.ts';
import { callerPartition, itemKeys, readRunId, shards } from '../table/keys.ts';
import { removeCallerKeys } from './key-removal.ts';
import { readItem, readKey } from '../table/record.ts';
import { removeItems, removePartition } from '../table/remove-items.ts';
import { repairShard } from '../runs/run-item.ts';
import { readRuns } from '../runs/job-list.ts';
import { queryRepairIndex, removeRun, toWork } from '../runs/run-store.ts';
import { alertsOfCaller, jobsByCaller } from '../table/table-layout.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';

/**
 * Creates the eraser of callers. Its methods throw `TransientError`. Point-in-time recovery keeps removed items for its
 * period.
 */
export function createCallerEraser(table: Table): CallerEraser {
  return {
    removeKeys: (caller) => removeCallerKeys(table, caller),
    listWork: async (caller, limit) => {
      const ids = [...new Set([...(await listJobIds(caller)), ...(await listWatchIds(caller))])];
      const work: CallerWork[] = [];
      // The index still lists jobs whose other item has expired: a page of them is not the end.
      for (let from = 0; from < ids.length && work.length < limit; from += limit) {
        const runs = await readRuns(table, ids.slice(from, from + limit).map(itemKeys.meta));
        work.push(...runs.filter((run) => run.caller === caller).map(toWork));
      }
      return work.slice(0, limit);
    },
    removeWork: (caller, work) => removeRun(table, caller, work),
    removeCaller: async (caller) => {
      const alerts = await table.query({
        index: jobsByCaller.name,
        where: '#caller = :caller',
        values: { ':caller': `${alertsOfCaller}${caller}` },
      });
      await removeItems(table, alerts.map(readKey));
      await removePartition(table, callerPartition(caller));
      await removeItems(table, [
        itemKeys.caller(caller),
        itemKeys.calls(caller),
        itemKeys.eventSessions(caller),
      ]);
      // A check under way may have counted its use meanwhile; it finds that the caller is gone from now on.
      await removePartition(table, callerPartition(caller));
    },
  };

  async function listJobIds(caller: string): Promise<string[]> {
    const listed = await table.query({
      index: jobsByCaller.name,
      where: '#caller = :caller',
      values: { ':caller': caller },
    });
    // The index lags: a new job is among the slots first.
    const { active } = readItem(slotsSchema, (await table.get(itemKeys.slots(caller))) ?? {});
    return [...listed.map(readId), ...active];
  }

  /**
   * A deleted watch is no longer in the caller's set until it is purged; all watches that are to be purged are in the
   * index of repairs.
   */
  async function listWatchIds(caller: string): Promise<string[]> {
    const { watches } = readItem(watchesSchema, (await table.get(itemKeys.watchesOfCaller(caller))) ?? {});
    const due = await Promise.all(
      shards.map((shard) => queryRepairIndex(table, repairShard('watch', shard))),
    );
    return [...watches, ...due.flat().map(readId)];
  }
}

const slotsSchema = z.object({ active: z.set(z.string()).default(new Set()) });
const watchesSchema = z.object({ watches: z.set(z.string()).default(new Set()) });

function readId(item: Item): string {
  return readRunId(readKey(item));
}
