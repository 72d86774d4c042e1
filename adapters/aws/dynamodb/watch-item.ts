import { z } from 'zod';
import { purgeAfterSeconds } from '../../../core/ports/watch-store.ts';
import { watchSchema } from '../../../core/records/watch.ts';
import { watchProgressSchema, type WatchProgress, type WatchRun } from '../../../core/records/watch-run.ts';
import type { ItemRules } from './item-rules.ts';
import { itemKeys, shardFor } from './keys.ts';
import { packRecord, readItem, readRecord } from './record.ts';
import { toEpochMinute } from './repair-due.ts';
import { watchShard } from './table-layout.ts';
import type { Item, ItemKey } from './write.ts';

/** Newest event that destinations receive: its sequence, and the epoch minute of its commit. */
export type NewestDelivered = { sequence: number; minute: number };

/** Run of a watch with the columns that decide its repair and its log. */
export type StoredRun = {
  watchId: string;
  run: WatchProgress;
  newest: NewestDelivered;
  hasDestinations: boolean;
  retentionDays: number;
};

/** Converts a run to its item. `published` is only a column, because it changes independently of the record. */
export function toRunItem(stored: StoredRun, rules: Pick<ItemRules, 'hasBus'>): ItemKey & Item {
  const { watchId, run, newest } = stored;
  const due = runRepairDue(stored, rules);
  return {
    ...itemKeys.watchRun(watchId),
    watch_id: watchId,
    version: run.version,
    published: run.published,
    newest_sequence: newest.sequence,
    newest_minute: newest.minute,
    has_destinations: stored.hasDestinations,
    retention_days: stored.retentionDays,
    repair_shard: due === undefined ? undefined : watchShardFor(watchId),
    repair_due: due,
    record: packRecord(run),
  };
}

export function readRunItem(item: Item): StoredRun {
  const columns = readItem(columnsSchema, item);
  const run = readRecord(watchProgressSchema, item);
  return {
    watchId: columns.watch_id,
    run: { ...run, published: columns.published },
    newest: { sequence: columns.newest_sequence, minute: columns.newest_minute },
    hasDestinations: columns.has_destinations,
    retentionDays: columns.retention_days,
  };
}

/** Joins the two items of a watch. Returns undefined if one is missing. */
export function readWatchItems(meta: Item | undefined, run: Item | undefined): WatchRun | undefined {
  if (meta === undefined || run === undefined) return undefined;
  return { ...readRecord(watchSchema, meta), ...readRunItem(run).run };
}

/** Returns true if events of the watch have not reached the delivery queue. */
export function hasUnpublished(
  { run, newest, hasDestinations }: StoredRun,
  { hasBus }: Pick<ItemRules, 'hasBus'>,
): boolean {
  return (hasDestinations || hasBus) && run.published < newest.sequence;
}

/** Returns true if the lease of a watch that an execution should watch has expired. */
export function isLate({ run }: StoredRun, now: Date): boolean {
  return !isIdle(run) && new Date(run.lease_until) < now;
}

export function isPurgeDue({ run }: StoredRun, now: Date): boolean {
  return run.deleted_at !== null && Date.parse(run.deleted_at) + purgeAfterSeconds * 1000 <= now.getTime();
}

/** Returns the epoch minute from which `reconcile` must inspect the watch, rounded down. */
function runRepairDue(stored: StoredRun, rules: Pick<ItemRules, 'hasBus'>): number | undefined {
  const { run, newest } = stored;
  const dues = [
    ...(hasUnpublished(stored, rules) ? [newest.minute] : []),
    ...(isIdle(run) ? [] : [toEpochMinute(new Date(run.lease_until))]),
    ...(run.deleted_at === null
      ? []
      : [toEpochMinute(new Date(Date.parse(run.deleted_at) + purgeAfterSeconds * 1000))]),
  ];
  return dues.length === 0 ? undefined : Math.min(...dues);
}

/** Returns true if no execution of the watch is expected to commit. */
export function isIdle({ status, deleted_at: deletedAt }: WatchProgress): boolean {
  return status === 'paused' || deletedAt !== null;
}

/** Returns the shard of a watch in the repair index. */
function watchShardFor(watchId: string): string {
  return `${watchShard}${shardFor(watchId)}`;
}

const columnsSchema = z.object({
  watch_id: z.string(),
  published: z.int().nonnegative(),
  newest_sequence: z.int().nonnegative(),
  newest_minute: z.int(),
  has_destinations: z.boolean(),
  retention_days: z.int(),
});
