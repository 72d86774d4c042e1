import { z } from 'zod';
import { statsRetentionSeconds, type WatchStore } from '../../../core/ports/watch-store.ts';
import type { WatchRun } from '../../../core/records/watch-run.ts';
import { watchSecretsSchema } from '../../../core/records/watch-secrets.ts';
import { watchSchema } from '../../../core/records/watch.ts';
import { watchEventSchema, type WatchEvent } from '../../../core/records/watch-event.ts';
import { watchCountsSchema, type Alert } from '../../../core/records/watch-state.ts';
import { addSeconds } from '../../../core/time.ts';
import { reviewDelta, weekStart, zeroWatchCounts } from '../../../core/watch/stored-watch.ts';
import type { BackoffDeps } from '../../retry-with-backoff.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { alertQuery, readAlertItem } from './alert-item.ts';
import type { ItemRules } from './item-rules.ts';
import { itemKeys, shards, sortPrefixes, watchPartition } from './keys.ts';
import { readItem, readRecord, readRecords } from './record.ts';
import { toEpochMinute } from './repair-due.ts';
import { repair, watchShard } from './table-layout.ts';
import type { Table } from './table.ts';
import { commitWatchChange, createWatch } from './watch-commit.ts';
import { readSource } from './source-item.ts';
import { createWatchFeed } from './watch-feed.ts';
import {
  hasUnpublished,
  isIdle,
  isLate,
  isPurgeDue,
  readRunItem,
  readWatchItems,
  toRunItem,
  type StoredRun,
} from './watch-item.ts';
import type { Item, ItemKey } from './write.ts';

/** Creates the watch store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createWatchStore(table: Table, rules: ItemRules, backoff: BackoffDeps): WatchStore {
  const deps = { table, ...rules };
  const list = async (caller: string) => listWatches(table, caller);
  return {
    ...createWatchFeed({ list, getIncludingEnded: find, events: readEvents }),
    create: async (creation, now) => createWatch(deps, creation, now),
    commit: async (change) => commitWatchChange(deps, change),
    get: async (watchId) => {
      const stored = await find(watchId);
      return stored?.deleted_at === null ? stored : undefined;
    },
    getIncludingEnded: find,
    list,
    source: async (sourceId) => readSource(table, sourceId),
    secrets: async (watchId) => {
      const item = await table.get(itemKeys.watchSecrets(watchId));
      return item && readRecord(watchSecretsSchema, item);
    },
    events: readEvents,
    event: async (watchId, sequence) => {
      const item = await table.get(itemKeys.watchEvent(watchId, sequence));
      return item && readRecord(watchEventSchema, item);
    },
    markPublished: async (watchId, sequence) => markWatchPublished(deps, watchId, sequence),
    alert: async (alertId, now) => findAlert(alertId, now),
    alerts: async (query, now) => {
      const keys = (await table.query(alertQuery(query, now))).map((item) => readItem(keySchema, item));
      return inOrder(keys, await table.getMany(keys)).map(readAlertItem);
    },
    review: async (alertId, review, now) =>
      (await retryWithJitter(() => tryReview(alertId, review, now), backoff)).alert,
    hours: async (watchId, from, to) => {
      const items = await range(watchId, sortPrefixes.hour, from.toISOString(), to.toISOString());
      return items.map((item) => ({
        hour: readItem(keySchema, item).sk.slice(sortPrefixes.hour.length),
        counts: { ...zeroWatchCounts, ...readItem(hourSchema, item) },
      }));
    },
    reviewedWeeks: async (watchId, from, to) => {
      const items = await range(watchId, sortPrefixes.reviews, toDate(from), toDate(to));
      return items.map((item) => {
        const [, week = '', conditionId = ''] = readItem(keySchema, item).sk.split('#');
        return { week, condition_id: conditionId, ...readItem(reviewsSchema, item) };
      });
    },
    dueForRepair: async (now, limit) => dueForRepair(deps, now, limit),
    standing: async () =>
      (await inRepairIndex(table)).filter(({ run }) => !isIdle(run)).map(({ run }) => run),
    purge: async (watchId) => purge(table, watchId),
  };

  async function find(watchId: string): Promise<WatchRun | undefined> {
    const [meta, run] = await table.snapshot([itemKeys.watch(watchId), itemKeys.watchRun(watchId)]);
    return readWatchItems(meta, run);
  }

  async function readEvents(watchId: string, after: number, limit: number, now: Date): Promise<WatchEvent[]> {
    const items = await table.query({
      where: '#pk = :watch AND #sk BETWEEN :from AND :to',
      filter: '#expires_at_ms > :now',
      values: {
        ':watch': watchPartition(watchId),
        ':from': itemKeys.watchEvent(watchId, after + 1).sk,
        ':to': `${sortPrefixes.event}~`,
        ':now': now.getTime(),
      },
      limit,
    });
    return readRecords(watchEventSchema, items);
  }

  async function findAlert(alertId: string, now: Date): Promise<Alert | undefined> {
    const item = await table.get(itemKeys.alert(alertId));
    const alert = item && readAlertItem(item);
    return alert && (alert.expires_at === null || new Date(alert.expires_at) > now) ? alert : undefined;
  }

  /** Returns items of a watch with a sort key from `from` to before `to`. */
  async function range(watchId: string, prefix: string, from: string, to: string): Promise<Item[]> {
    const items = await table.query({
      where: '#pk = :watch AND #sk BETWEEN :from AND :to',
      values: { ':watch': watchPartition(watchId), ':from': `${prefix}${from}`, ':to': `${prefix}${to}` },
    });
    return items.filter((item) => item['sk'] !== `${prefix}${to}`);
  }

  /** Stores the review and its count in one transaction. Returns undefined if another review was stored meanwhile. */
  async function tryReview(alertId: string, review: NonNullable<Alert['review']>, now: Date) {
    const alert = await findAlert(alertId, now);
    if (alert === undefined) return { alert };
    const { correct, wrong } = reviewDelta(alert, review);
    const at = new Date(alert.opened_at);
    const before = alert.review && JSON.stringify(alert.review);
    const result = await table.transact([
      {
        kind: 'update',
        key: itemKeys.alert(alertId),
        change: 'SET #review = :review',
        condition: before === null ? 'attribute_not_exists(#review)' : '#review = :before',
        values: { ':review': JSON.stringify(review), ...(before !== null && { ':before': before }) },
      },
      {
        kind: 'update',
        key: itemKeys.watchReviews(alert.watch_id, weekStart(at), alert.condition_id),
        change: 'SET #ttl = :ttl ADD #correct :correct, #wrong :wrong',
        values: {
          ':correct': correct,
          ':wrong': wrong,
          ':ttl': Math.ceil(addSeconds(at, statsRetentionSeconds).getTime() / 1000),
        },
      },
    ]);
    return result.kind === 'written' ? { alert: { ...alert, review } } : undefined;
  }
}

async function listWatches(table: Table, caller: string): Promise<WatchRun[]> {
  const set = await table.get(itemKeys.watchesOfCaller(caller));
  const ids = [...(readItem(watchesSchema, set ?? {}).watches ?? [])];
  const items = await table.getMany(ids.flatMap((id) => [itemKeys.watch(id), itemKeys.watchRun(id)]));
  const byKey = new Map(items.map((item) => [`${String(item['pk'])} ${String(item['sk'])}`, item]));
  const read = ({ pk, sk }: ItemKey) => byKey.get(`${pk} ${sk}`);
  return ids
    .flatMap((id) => readWatchItems(read(itemKeys.watch(id)), read(itemKeys.watchRun(id))) ?? [])
    .filter(({ deleted_at: deletedAt }) => deletedAt === null)
    .toSorted((one, other) => (creationOrder(one) < creationOrder(other) ? -1 : 1));
}

function creationOrder(watch: WatchRun): string {
  return `${watch.created_at}${watch.run_id}`;
}

/** Advances `published`, then the repair index entry. The second write loses against any change of the run, which writes the entry too. */
async function markWatchPublished(
  { table, ...rules }: { table: Table } & ItemRules,
  watchId: string,
  sequence: number,
): Promise<void> {
  const marked = await table.write({
    kind: 'update',
    key: itemKeys.watchRun(watchId),
    change: 'SET #published = :sequence',
    condition: '#published < :sequence',
    values: { ':sequence': sequence },
  });
  if (marked.kind === 'refused' || marked.item === undefined) return;
  const stored = readRunItem(marked.item);
  const { repair_due: due, repair_shard: shard } = toRunItem(stored, rules);
  if (due === marked.item['repair_due']) return;
  await table.write({
    kind: 'update',
    key: itemKeys.watchRun(watchId),
    condition: '#version = :seen',
    ...(due === undefined
      ? { change: 'REMOVE #repair_due, #repair_shard', values: { ':seen': stored.run.version } }
      : {
          change: 'SET #repair_due = :due, #repair_shard = :shard',
          values: { ':due': due, ':shard': shard, ':seen': stored.run.version },
        }),
  });
}

async function dueForRepair(
  { table, ...rules }: { table: Table } & ItemRules,
  now: Date,
  limit: number,
): Promise<string[]> {
  const runs = await inRepairIndex(table, { before: now, limit });
  const due = runs.filter(
    (stored) => isLate(stored, now) || hasUnpublished(stored, rules) || isPurgeDue(stored, now),
  );
  return due.map(({ watchId }) => watchId).slice(0, limit);
}

/** Returns the runs in the repair index: of watches with a lease, and those with events to publish or a removal ahead. */
async function inRepairIndex(table: Table, due?: { before: Date; limit: number }): Promise<StoredRun[]> {
  const found = await Promise.all(
    shards.map((shard) =>
      table.query({
        index: repair.name,
        where: `#repair_shard = :shard${due ? ' AND #repair_due <= :minute' : ''}`,
        values: {
          ':shard': `${watchShard}${shard}`,
          ...(due && { ':minute': toEpochMinute(due.before) }),
        },
        ...(due && { limit: due.limit }),
      }),
    ),
  );
  const keys = found.flat().map((item) => readItem(keySchema, item));
  return (await table.getMany(keys)).map(readRunItem);
}

/** Maximum writes of a transaction. */
const maxWrites = 100;

/** Removes the configuration last: a purge that was interrupted finds it again. */
async function purge(table: Table, watchId: string): Promise<void> {
  const meta = await table.get(itemKeys.watch(watchId));
  const items = await table.query({ where: '#pk = :watch', values: { ':watch': watchPartition(watchId) } });
  const alerts = meta
    ? await table.query(alertQuery({ caller: readRecord(watchSchema, meta).caller, watchId }, new Date(0)))
    : [];
  const last = new Set([itemKeys.watchRun(watchId).sk, itemKeys.watch(watchId).sk]);
  const keys = [...items, ...alerts].map((item) => readItem(keySchema, item));
  const first = keys.filter(({ sk, pk }) => pk !== watchPartition(watchId) || !last.has(sk));
  await removeItems(table, [...first, itemKeys.watchSecrets(watchId)]);
  await removeItems(table, [itemKeys.watchRun(watchId), itemKeys.watch(watchId)]);
}

async function removeItems(table: Table, keys: ItemKey[]): Promise<void> {
  for (let from = 0; from < keys.length; from += maxWrites) {
    await table.transact(keys.slice(from, from + maxWrites).map((key) => ({ kind: 'delete', key })));
  }
}

function inOrder(keys: ItemKey[], items: Item[]): Item[] {
  const byKey = new Map(items.map((item) => [item['pk'], item]));
  return keys.map(({ pk }) => byKey.get(pk)).filter((item) => item !== undefined);
}

function toDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}

const keySchema = z.object({ pk: z.string(), sk: z.string() });
const watchesSchema = z.object({ watches: z.set(z.string()).optional() });
const reviewsSchema = z.object({ correct: z.int(), wrong: z.int() });
const hourSchema = z.object(
  Object.fromEntries(Object.keys(watchCountsSchema.shape).map((name) => [name, z.int().default(0)])),
);
