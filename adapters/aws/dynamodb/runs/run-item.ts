import { z } from 'zod';
import { type RunChange, purgeAfterSeconds } from '../../../../core/ports/runs.ts';
import {
  type RunEvent,
  policySchema,
  runSchema,
  type PolicyName,
  type Run,
} from '../../../../core/records/run.ts';
import {
  goneAt,
  hasDestinations,
  hasReceivers,
  isIdle,
  newestDelivered,
  retentionDays,
  splitRun,
} from '../../../../core/event/stored-run.ts';
import { itemKeys, readRunId, shardFor } from '../table/keys.ts';
import { packRecord, parseRecord, readItem, readRecord } from '../table/record.ts';
import { watchShard, ttlAttribute } from '../table/table-layout.ts';
import type { Item, ItemKey, Table, Write } from '../table/table.ts';
import type { ItemTtls } from '../table/item-ttls.ts';
import { sourceSchema, type Source } from '../../../../core/records/job.ts';

/** Settings of the deployment that decide columns of items. */
export type ItemRules = {
  ttls: ItemTtls;
  /** True if an event bus receives the events of all jobs and watches. */
  hasBus: boolean;
};

/** Part of a run that each commit writes, as far as a store reads it. */
const progressSchema = z.looseObject({
  version: z.int().nonnegative(),
  sequence: z.int().nonnegative(),
  generation: z.int().nonnegative(),
  status: z.string(),
  lease_until: z.iso.datetime(),
  expires_at: z.iso.datetime().nullish(),
  deleted_at: z.iso.datetime().nullish(),
});

/** Newest event that receivers get: its sequence, and the epoch minute of its commit. */
export type NewestDelivered = { sequence: number; minute: number };

/**
 * Item of a run, with the columns that decide its repair and its log. Ticks leave the other item (`META`) unchanged.
 */
export type StoredProgress = {
  runId: string;
  policy: PolicyName;
  progress: z.infer<typeof progressSchema>;
  published: number;
  newest: NewestDelivered;
  hasReceivers: boolean;
  /** `null` for jobs. */
  retentionDays: number | null;
  /** Version of the run at which `META` was written: a reader of both sees one state. */
  metaVersion: number;
};

export function toMetaItem(meta: object, runId: string, metaVersion: number): ItemKey & Item {
  return { ...itemKeys.meta(runId), meta_version: metaVersion, record: JSON.stringify(meta) };
}

/** Converts a new run to its two items. Jobs are in the index of their caller. */
export function toItems(
  run: Run,
  events: readonly RunEvent[],
  rules: ItemRules,
): { meta: ItemKey & Item; run: ItemKey & Item } {
  const { meta, progress } = splitRun(run);
  const stored = {
    runId: run.run_id,
    policy: run.policy,
    progress: readItem(progressSchema, progress),
    published: run.published,
    newest: findNewest(events, { sequence: 0, minute: 0 }),
    hasReceivers: hasReceivers(run),
    retentionDays: retentionDays(run),
    metaVersion: run.version,
  };
  const listed =
    run.policy === 'watch' ? {} : { caller: run.caller, listed_at: `${run.created_at}#${run.run_id}` };
  return {
    meta: toMetaItem(meta, run.run_id, run.version),
    run: { ...toProgressItem(stored, rules), ...listed },
  };
}

/**
 * Converts the part of a run that each commit writes to its item. `published` is only a column, because it changes
 * independently of the record. Undefined values are neither in the item nor in an index.
 */
export function toProgressItem(stored: StoredProgress, { ttls, hasBus }: ItemRules): ItemKey & Item {
  const { runId, policy, progress } = stored;
  const due = repairDue(stored, hasBus);
  const expiresAt = progress.expires_at ?? undefined;
  return {
    ...itemKeys.run(runId),
    policy,
    status: progress.status,
    version: progress.version,
    published: stored.published,
    newest_sequence: stored.newest.sequence,
    newest_minute: stored.newest.minute,
    has_receivers: stored.hasReceivers,
    retention_days: stored.retentionDays ?? undefined,
    meta_version: stored.metaVersion,
    repair_shard: due === undefined ? undefined : repairShard(policy, shardFor(runId)),
    repair_due: due,
    expires_at: expiresAt,
    ttl: expiresAt === undefined ? undefined : ttls.afterExpiry(new Date(expiresAt)),
    record: packRecord(progress),
  };
}

/** Converts an item back. Throws `StorageError` if it does not match its schema. */
export function readProgressItem(item: Item): StoredProgress {
  const columns = readItem(columnsSchema, item);
  return {
    runId: readRunId(columns),
    policy: columns.policy,
    progress: readItem(progressSchema, parseRecord(item)),
    published: columns.published,
    newest: { sequence: columns.newest_sequence, minute: columns.newest_minute },
    hasReceivers: columns.has_receivers,
    retentionDays: columns.retention_days ?? null,
    metaVersion: columns.meta_version,
  };
}

/**
 * Joins the two items of a run. Returns undefined if one is missing. Throws `StorageError` if they do not match the
 * schema.
 */
export function readRunItems(meta: Item | undefined, run: Item | undefined): Run | undefined {
  if (meta === undefined || run === undefined) return undefined;
  const { progress, published } = readProgressItem(run);
  return readItem(runSchema, { ...readItem(recordSchema, parseRecord(meta)), ...progress, published });
}

/** Returns the item after a commit. */
export function applyToProgress(before: StoredProgress, change: RunChange): StoredProgress {
  const { set, meta, events } = change;
  const version = before.progress.version + 1;
  return {
    ...before,
    progress: { ...before.progress, ...set, version },
    newest: findNewest(events, before.newest),
    ...(meta && {
      hasReceivers: hasDestinations(meta),
      retentionDays: meta.config.retention_days,
      metaVersion: version,
    }),
  };
}

function findNewest(events: readonly RunEvent[], before: NewestDelivered): NewestDelivered {
  const sequence = newestDelivered(events, before.sequence);
  const event = events.find((other) => other.sequence === sequence);
  return event ? { sequence, minute: toEpochMinute(new Date(event.timestamp)) } : before;
}

/** Returns true if events of the run have not reached the delivery queue. */
export function hasUnpublished(
  { published, newest, hasReceivers: has }: StoredProgress,
  hasBus: boolean,
): boolean {
  return (has || hasBus) && published < newest.sequence;
}

/** Returns true if the lease of a run that an execution should tick has expired. */
export function isLate({ progress }: StoredProgress, now: Date): boolean {
  return !isIdle(progress) && new Date(progress.lease_until) < now;
}

export function isPurgeDue(stored: StoredProgress, now: Date): boolean {
  const purgedAt = purgeAt(stored);
  return purgedAt !== undefined && purgedAt <= now;
}

function purgeAt({ policy, progress }: StoredProgress): Date | undefined {
  const end = policy === 'watch' ? goneAt(progress) : null;
  return end === null ? undefined : new Date(Date.parse(end) + purgeAfterSeconds * 1000);
}

/**
 * Returns the epoch minute from which `reconcile` must inspect the run: unpublished event, lease expiry or purge.
 * Returns undefined if no inspection is due. The minute is rounded down, so `reconcile` must check the run itself.
 */
function repairDue(stored: StoredProgress, hasBus: boolean): number | undefined {
  const { progress, newest } = stored;
  const purge = purgeAt(stored);
  const dues = [
    ...(hasUnpublished(stored, hasBus) ? [newest.minute] : []),
    ...(isIdle(progress) ? [] : [toEpochMinute(new Date(progress.lease_until))]),
    ...(purge === undefined ? [] : [toEpochMinute(purge)]),
  ];
  return dues.length === 0 ? undefined : Math.min(...dues);
}

/** Returns the partition of the repair index for a shard: watches are apart from jobs. */
export function repairShard(policy: PolicyName, shard: string): string {
  return policy === 'watch' ? `${watchShard}${shard}` : shard;
}

/** Converts a time to minutes since the epoch, rounded down. */
export function toEpochMinute(time: Date): number {
  return Math.floor(time.getTime() / 60_000);
}

const recordSchema = z.record(z.string(), z.unknown());

const columnsSchema = z.object({
  pk: z.string(),
  policy: policySchema,
  published: z.int().nonnegative(),
  newest_sequence: z.int().nonnegative(),
  newest_minute: z.int(),
  has_receivers: z.boolean(),
  retention_days: z.int().optional(),
  meta_version: z.int().nonnegative(),
});

export function putSource(source: Source): Write & { kind: 'put' } {
  return { kind: 'put', item: { ...itemKeys.source(source.source_id), record: JSON.stringify(source) } };
}

/** Returns undefined if the source is removed. */
export async function readSource(table: Table, sourceId: string): Promise<Source | undefined> {
  const item = await table.get(itemKeys.source(sourceId));
  // Only the commit that ends the job sets a TTL.
  return item && { ...readRecord(sourceSchema, item), ...(ttlAttribute in item && { ended: true }) };
}
