import type { CallerWork } from '../../../../core/ports/callers.ts';
import type { RunStore } from '../../../../core/ports/runs.ts';
import { isGone, isPurgeable } from '../../../../core/event/stored-run.ts';
import { policySchema, type PolicyName, type Run } from '../../../../core/records/run.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { createEventReads } from './event-items.ts';
import { itemKeys, runPartition, shards } from '../table/keys.ts';
import { readKey, readRecord } from '../table/record.ts';
import { removeItems, removePartition } from '../table/remove-items.ts';
import { retryWithJitter } from '../table/retries.ts';
import { commitChange, type RunDeps } from './run-commit.ts';
import {
  hasUnpublished,
  isLate,
  isPurgeDue,
  readProgressItem,
  readRunItems,
  repairShard,
  toEpochMinute,
  toProgressItem,
  readSource,
  type StoredProgress,
} from './run-item.ts';
import { repair } from '../table/table-layout.ts';
import { findAlert, alertQuery } from './alert-item.ts';
import { watchSecretsSchema } from '../../../../core/records/watch.ts';
import type { Table, ItemKey } from '../table/table.ts';

/** Creates the store of runs. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createRunStore(deps: RunDeps, backoff: BackoffDeps): RunStore {
  const { table } = deps;
  const find = async (runId: string) => (await retryWithJitter(() => readOnce(table, runId), backoff)).run;
  return {
    ...createEventReads(table),
    get: async (runId, now) => {
      const run = await find(runId);
      return run === undefined || isGone(run, now) ? undefined : run;
    },
    getIncludingEnded: find,
    commit: async (change) => commitChange(deps, change),
    markPublished: async (runId, sequence) => markPublished(deps, runId, sequence),
    source: async (sourceId) => readSource(table, sourceId),
    secrets: async (runId) => {
      const item = await table.get(itemKeys.watchSecrets(runId));
      return item && readRecord(watchSecretsSchema, item);
    },
    alert: async (alertId, now) => findAlert(table, alertId, now),
    dueForRepair: async (now, limit) => dueForRepair(deps, now, limit),
    purge: async (runId) => purgeRun(table, runId),
  };
}

/**
 * Reads both items of a run. Returns undefined if a commit fell between them: only a change by a caller writes both.
 */
async function readOnce(table: Table, runId: string): Promise<{ run: Run | undefined } | undefined> {
  const items = await table.query({
    where: '#pk = :run AND #sk BETWEEN :meta AND :progress',
    values: {
      ':run': runPartition(runId),
      ':meta': itemKeys.meta(runId).sk,
      ':progress': itemKeys.run(runId).sk,
    },
  });
  const [meta, run] = items;
  if (meta === undefined || run === undefined) return { run: undefined };
  return meta['meta_version'] === run['meta_version'] ? { run: readRunItems(meta, run) } : undefined;
}

/**
 * Advances `published`. If no event is left to publish, updates the repair index entry: due at lease expiry, or
 * removed. This second write loses against any change of the run; the next mark or change corrects it. Until then,
 * a reader of the index finds nothing to repair.
 */
async function markPublished({ table, ...rules }: RunDeps, runId: string, sequence: number): Promise<void> {
  const key = itemKeys.run(runId);
  const marked = await table.write({
    kind: 'update',
    key,
    change: 'SET #published = :sequence',
    condition: '#published < :sequence',
    values: { ':sequence': sequence },
  });
  if (marked.kind === 'refused' || marked.item === undefined) return;
  const stored = readProgressItem(marked.item);
  const { repair_due: due, repair_shard: shard } = toProgressItem(stored, rules);
  if (due === marked.item['repair_due']) return;
  const seen = { ':seen': stored.progress.version };
  await table.write({
    kind: 'update',
    key,
    condition: '#version = :seen',
    ...(due === undefined
      ? { change: 'REMOVE #repair_due, #repair_shard', values: seen }
      : {
          change: 'SET #repair_due = :due, #repair_shard = :shard',
          values: { ':due': due, ':shard': shard, ...seen },
        }),
  });
}

/**
 * Returns runs due for repair, lost ones first: a receiver that is unreachable for long must not delay their detection.
 */
async function dueForRepair({ table, hasBus }: RunDeps, now: Date, limit: number): Promise<string[]> {
  const runs = await readRepairIndex(table, policySchema.options, { before: now, limit });
  const lost = runs.filter((stored) => isLate(stored, now)).toSorted(byLease);
  const others = runs.filter((stored) => hasUnpublished(stored, hasBus) || isPurgeDue(stored, now));
  return [...new Set([...lost, ...others].map(({ runId }) => runId))].slice(0, limit);
}

/** Returns the runs in the repair index: those with a lease, and those with events to publish or a removal ahead. */
export async function readRepairIndex(
  table: Table,
  policies: readonly PolicyName[],
  due?: { before: Date; limit: number },
): Promise<StoredProgress[]> {
  const partitions = new Set(policies.flatMap((policy) => shards.map((shard) => repairShard(policy, shard))));
  const present = await Promise.all(
    [...partitions].map((partition) => queryRepairIndex(table, partition, due)),
  );
  return (await table.getMany(present.flat())).flatMap((item) => (item ? [readProgressItem(item)] : []));
}

/** Returns the keys of one partition of the repair index, longest due first. */
export async function queryRepairIndex(
  table: Table,
  partition: string,
  due?: { before: Date; limit: number },
): Promise<ItemKey[]> {
  const items = await table.query({
    index: repair.name,
    where: `#repair_shard = :shard${due ? ' AND #repair_due <= :minute' : ''}`,
    values: { ':shard': partition, ...(due && { ':minute': toEpochMinute(due.before) }) },
    ...(due && { limit: due.limit }),
  });
  return items.map(readKey);
}

function byLease(one: StoredProgress, other: StoredProgress): number {
  return Date.parse(one.progress.lease_until) - Date.parse(other.progress.lease_until);
}

/** Removes a deleted watch with all its items. */
async function purgeRun(table: Table, runId: string): Promise<void> {
  const run = readRunItems(await table.get(itemKeys.meta(runId)), await table.get(itemKeys.run(runId)));
  if (run !== undefined && isPurgeable(run)) await removeRun(table, run.caller, toWork(run));
}

/** Returns what the removal of a run needs to know of it. */
export function toWork({ run_id: id, policy, source_id: sourceId, generation }: Run): CallerWork {
  return { kind: policy === 'watch' ? 'watch' : 'job', id, sourceId, generation };
}

/** Removes a run with all its items, its records last: a removal that was interrupted finds it again. */
export async function removeRun(
  table: Table,
  caller: string,
  { kind, id, sourceId }: CallerWork,
): Promise<void> {
  const alerts = kind === 'watch' ? await table.query(alertQuery({ caller, watchId: id }, new Date(0))) : [];
  await removeItems(table, [
    ...alerts.map(readKey),
    itemKeys.active(id),
    itemKeys.source(sourceId),
    itemKeys.watchSecrets(id),
  ]);
  const records = [itemKeys.meta(id), itemKeys.run(id)];
  await removePartition(
    table,
    runPartition(id),
    records.map(({ sk }) => sk),
  );
  await table.transact(records.map((key) => ({ kind: 'delete', key })));
  // A tick under way may have committed meanwhile; it finds no run from now on.
  await removePartition(table, runPartition(id));
}
