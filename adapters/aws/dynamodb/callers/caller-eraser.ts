import { z } from 'zod';
import type { CallerEraser, CallerWork } from '../../../../core/ports/caller-store.ts';
import type { Run } from '../../../../core/records/run.ts';
import { callerPartition, itemKeys, readRunId, runPartition, shards } from '../table/keys.ts';
import { removeCallerKeys } from './key-removal.ts';
import { readItem } from '../table/record.ts';
import { repairShard } from '../runs/run-item.ts';
import { readRuns } from '../runs/job-list.ts';
import { queryRepairIndex } from '../runs/run-store.ts';
import { alertsOfCaller, jobsByCaller } from '../table/table-layout.ts';
import type { Table } from '../table/table.ts';
import type { Item, ItemKey } from '../table/write.ts';

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
    removeWork: async (caller, { kind, id, sourceId }) => {
      if (kind === 'watch') await removeAlerts(caller, id);
      await remove([itemKeys.active(id), itemKeys.source(sourceId), itemKeys.watchSecrets(id)]);
      const records = [itemKeys.meta(id), itemKeys.run(id)];
      await removePartition(runPartition(id), new Set(records.map(({ sk }) => sk)));
      // The records are last: an erasure that was interrupted finds them again.
      await table.transact(records.map((key) => ({ kind: 'delete', key })));
      // A tick under way may have committed meanwhile; it finds no run from now on.
      await removePartition(runPartition(id));
    },
    removeCaller: async (caller) => {
      await removeAlerts(caller);
      await removePartition(callerPartition(caller));
      await remove([itemKeys.caller(caller), itemKeys.calls(caller), itemKeys.eventSessions(caller)]);
      // A check under way may have counted its use meanwhile; it finds that the caller is gone from now on.
      await removePartition(callerPartition(caller));
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

  async function removeAlerts(caller: string, watchId?: string): Promise<void> {
    const alerts = await table.query({
      index: jobsByCaller.name,
      where: '#caller = :caller',
      values: {
        ':caller': `${alertsOfCaller}${caller}`,
        ...(watchId !== undefined && { ':watch': watchId }),
      },
      ...(watchId !== undefined && { filter: '#policy = :watch' }),
    });
    await remove(alerts.map((item) => readItem(keySchema, item)));
  }

  async function removePartition(pk: string, except: ReadonlySet<string> = new Set()): Promise<void> {
    const items = await table.query({ where: '#pk = :pk', values: { ':pk': pk } });
    await remove(items.map((item) => readItem(keySchema, item)).filter(({ sk }) => !except.has(sk)));
  }

  async function remove(keys: ItemKey[]): Promise<void> {
    for (let from = 0; from < keys.length; from += writesAtOnce)
      await Promise.all(
        keys.slice(from, from + writesAtOnce).map((key) => table.write({ kind: 'delete', key })),
      );
  }
}

const writesAtOnce = 25;

const keySchema = z.object({ pk: z.string(), sk: z.string() });
const slotsSchema = z.object({ active: z.set(z.string()).default(new Set()) });
const watchesSchema = z.object({ watches: z.set(z.string()).default(new Set()) });

function readId(item: Item): string {
  return readRunId(readItem(keySchema, item));
}

function toWork({ run_id: id, policy, source_id: sourceId, generation }: Run): CallerWork {
  return { kind: policy === 'watch' ? 'watch' : 'job', id, sourceId, generation };
}
