import { z } from 'zod';
import type { CallerEraser, CallerWork } from '../../../core/ports/caller-eraser.ts';
import { watchSchema } from '../../../core/records/watch.ts';
import { readJobItem } from './job-item.ts';
import {
  activePartition,
  callerPartition,
  itemKeys,
  jobPartition,
  shardFor,
  shards,
  watchPartition,
} from './keys.ts';
import { removeCallerKeys } from './key-removal.ts';
import { readItem, readRecord } from './record.ts';
import { alertsOfCaller, jobsByCaller, keyPrefixes, repair, watchShard } from './table-layout.ts';
import type { Table } from './table.ts';
import { readRunItem } from './watch-item.ts';
import type { ItemKey } from './write.ts';

/** Creates the eraser of callers. Its methods throw `TransientError`. Point-in-time recovery keeps removed items for its period. */
export function createCallerEraser(table: Table): CallerEraser {
  return {
    removeKeys: (caller) => removeCallerKeys(table, caller),
    listWork: async (caller, limit) => [
      ...(await listJobs(caller, limit)),
      ...(await listWatches(caller)).slice(0, limit),
    ],
    removeWork: async (caller, work) => {
      const { kind, id, sourceId } = work;
      if (kind === 'watch') await removeAlerts(caller, id);
      await remove([
        { pk: activePartition(shardFor(id)), sk: id },
        itemKeys.source(sourceId),
        itemKeys.watchSecrets(id),
      ]);
      // The record is last: an erasure that was interrupted finds it again.
      await removePartition(kind === 'job' ? jobPartition(id) : watchPartition(id));
    },
    removeCaller: async (caller) => {
      await removeAlerts(caller);
      await removePartition(callerPartition(caller));
      await remove([itemKeys.caller(caller)]);
      // A check under way may have counted its use meanwhile; it finds that the caller is gone from now on.
      await removePartition(callerPartition(caller));
    },
  };

  async function listJobs(caller: string, limit: number): Promise<CallerWork[]> {
    const listed = await table.query({
      index: jobsByCaller.name,
      where: '#caller = :caller',
      values: { ':caller': caller },
      limit,
    });
    // The index lags: a new job is among the slots first.
    const { active } = readItem(slotsSchema, (await table.get(itemKeys.slots(caller))) ?? {});
    const ids = [...active].map((id) => ({ pk: jobPartition(id), sk: 'META' }));
    const keys = [...listed.map((item) => readItem(keySchema, item)), ...ids];
    const items = await table.getMany([...new Map(keys.map((key) => [key.pk, key])).values()]);
    return items.map((item) => {
      const { run_id: id, source_id: sourceId, generation } = readJobItem(item).job;
      return { kind: 'job', id, sourceId, generation };
    });
  }

  /** A deleted watch is no longer in the caller's set until it is purged; all watches that are to be purged are in the index of repairs. */
  async function listWatches(caller: string): Promise<CallerWork[]> {
    const { watches } = readItem(watchesSchema, (await table.get(itemKeys.watchesOfCaller(caller))) ?? {});
    const due = await Promise.all(
      shards.map((shard) =>
        table.query({
          index: repair.name,
          where: '#repair_shard = :shard',
          values: { ':shard': `${watchShard}${shard}` },
        }),
      ),
    );
    const ids = new Set([
      ...watches,
      ...due.flat().map((item) => readItem(keySchema, item).pk.slice(keyPrefixes.watch.length)),
    ]);
    const found: CallerWork[] = [];
    const metas = await table.getMany([...ids].map(itemKeys.watch));
    for (const item of metas) {
      const watch = readRecord(watchSchema, item);
      if (watch.caller !== caller) continue;
      const run = await table.get(itemKeys.watchRun(watch.run_id));
      const generation = run ? readRunItem(run).run.generation : 0;
      found.push({ kind: 'watch', id: watch.run_id, sourceId: watch.source_id, generation });
    }
    return found;
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

  async function removePartition(pk: string): Promise<void> {
    const items = await table.query({ where: '#pk = :pk', values: { ':pk': pk } });
    const keys = items.map((item) => readItem(keySchema, item));
    await remove(keys.filter((key) => !isRecord(key)));
    await remove(keys.filter(isRecord));
  }

  async function remove(keys: ItemKey[]): Promise<void> {
    for (let from = 0; from < keys.length; from += writesAtOnce)
      await Promise.all(
        keys.slice(from, from + writesAtOnce).map((key) => table.write({ kind: 'delete', key })),
      );
  }
}

const isRecord = ({ sk }: ItemKey) => sk === 'META';

const writesAtOnce = 25;

const keySchema = z.object({ pk: z.string(), sk: z.string() });
const slotsSchema = z.object({ active: z.set(z.string()).default(new Set()) });
const watchesSchema = z.object({ watches: z.set(z.string()).default(new Set()) });
