import { z } from 'zod';
import type { RunStore, WatchStore, WatchCreation, CreationResult } from '../../../../core/ports/runs.ts';
import { isIdle } from '../../../../core/event/stored-run.ts';
import { isWatch, watchProgressSchema, type WatchRun, watchRunSchema } from '../../../../core/records/run.ts';
import { watchCountsSchema, type Alert } from '../../../../core/records/watch-state.ts';
import { reviewDelta, zeroWatchCounts } from '../../../../core/watch/stored-watch.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { retryWithJitter } from '../table/retries.ts';
import { alertQuery, findAlert, readAlertItem } from './alert-item.ts';
import { itemKeys, runPartition, sortPrefixes } from '../table/keys.ts';
import { readItem, readKey } from '../table/record.ts';
import { readSeen, type RunDeps, putSecrets } from './run-commit.ts';
import { countReviews } from './moment-items.ts';
import { readRuns } from './job-list.ts';
import { readRepairIndex } from './run-store.ts';
import type { Table, Item, Write } from '../table/table.ts';
import { createWatchFeed } from './watch-feed.ts';
import { putEvent } from './event-items.ts';
import { readRefusal, rememberRequest } from './job-creation.ts';
import { requireValidKey } from '../callers/key-store.ts';
import { toItems, putSource } from './run-item.ts';

/** Creates the watch store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createWatchStore(runs: RunStore, deps: RunDeps, backoff: BackoffDeps): WatchStore {
  const { table } = deps;
  const list = async (caller: string) => listWatches(table, caller);
  return {
    ...createWatchFeed(runs, list),
    create: async (creation, now) => createWatch(deps, creation, now),
    list,
    alerts: async (query, now) => {
      const keys = (await table.query(alertQuery(query, now))).map(readKey);
      return (await table.getMany(keys)).flatMap((item) => (item ? [readAlertItem(item)] : []));
    },
    review: async (alertId, review, now) =>
      (await retryWithJitter(() => tryReview(alertId, review, now), backoff)).alert,
    hours: async (watchId, from, to) => {
      const items = await range(watchId, sortPrefixes.hour, from.toISOString(), to.toISOString());
      return items.map((item) => ({
        hour: readKey(item).sk.slice(sortPrefixes.hour.length),
        counts: { ...zeroWatchCounts, ...readItem(hourSchema, item) },
        seen: readSeen(item),
      }));
    },
    reviewedHours: async (watchId, from, to) => {
      const items = await range(watchId, sortPrefixes.reviews, from.toISOString(), to.toISOString());
      return items.map((item) => {
        const [, hour = '', conditionId = ''] = readKey(item).sk.split('#');
        return { hour, condition_id: conditionId, ...readItem(reviewsSchema, item) };
      });
    },
    standing: async () => {
      const standing = (await readRepairIndex(table, ['watch'])).filter(({ progress }) => !isIdle(progress));
      return standing.map(({ progress, published }) =>
        readItem(watchProgressSchema, { ...progress, published }),
      );
    },
  };

  /** Returns items of a watch with a sort key from `from` to before `to`. */
  async function range(watchId: string, prefix: string, from: string, to: string): Promise<Item[]> {
    const items = await table.query({
      where: '#pk = :watch AND #sk BETWEEN :from AND :to',
      values: { ':watch': runPartition(watchId), ':from': `${prefix}${from}`, ':to': `${prefix}${to}` },
    });
    return items.filter((item) => item['sk'] !== `${prefix}${to}`);
  }

  /** Stores the review and its count in one transaction. Returns undefined if another review was stored meanwhile. */
  async function tryReview(alertId: string, review: NonNullable<Alert['review']>, now: Date) {
    const alert = await findAlert(table, alertId, now);
    if (alert === undefined) return { alert };
    const before = alert.review && JSON.stringify(alert.review);
    const result = await table.transact([
      {
        kind: 'update',
        key: itemKeys.alert(alertId),
        change: 'SET #review = :review',
        condition: before === null ? 'attribute_not_exists(#review)' : '#review = :before',
        values: { ':review': JSON.stringify(review), ...(before !== null && { ':before': before }) },
      },
      countReviews(alert.watch_id, new Date(alert.opened_at), alert.condition_id, reviewDelta(alert, review)),
    ]);
    return result.kind === 'written' ? { alert: { ...alert, review } } : undefined;
  }
}

async function listWatches(table: Table, caller: string): Promise<WatchRun[]> {
  const set = await table.get(itemKeys.watchesOfCaller(caller));
  const ids = [...(readItem(watchesSchema, set ?? {}).watches ?? [])];
  const runs = await readRuns(table, ids.map(itemKeys.meta));
  return runs
    .filter(isWatch)
    .filter(({ deleted_at: deletedAt }) => deletedAt === null)
    .toSorted((one, other) => (creationOrder(one) < creationOrder(other) ? -1 : 1));
}

function creationOrder(watch: WatchRun): string {
  return `${watch.created_at}${watch.run_id}`;
}

const watchesSchema = z.object({ watches: z.set(z.string()).optional() });
const reviewsSchema = z.object({
  correct: z.int().default(0),
  wrong: z.int().default(0),
  missed: z.int().default(0),
});
const hourSchema = z.object(
  Object.fromEntries(Object.keys(watchCountsSchema.shape).map((name) => [name, z.int().default(0)])),
);

const absent = 'attribute_not_exists(#pk)';

/**
 * Creates a watch in one transaction: configuration, run, source, secrets, events, a place among the caller's watches.
 */
async function createWatch(
  { table, ...rules }: RunDeps,
  creation: WatchCreation,
  now: Date,
): Promise<CreationResult> {
  const { source, secrets, events, maxWatches, keyHash, idempotency } = creation;
  const watch = watchRunSchema.parse(creation);
  const { caller, run_id: watchId } = watch;
  const items = toItems(watch, events, rules);
  const result = await table.transact([
    { kind: 'put', item: items.meta, condition: absent },
    takePlace(caller, watchId, maxWatches),
    ...(idempotency ? [rememberRequest({ caller, id: watchId }, idempotency, now, rules.ttls)] : []),
    { kind: 'put', item: items.run },
    putSource(source),
    putSecrets(secrets),
    ...events.flatMap((event) => putEvent(event, watch.config.retention_days, rules.ttls)),
    ...(keyHash === undefined ? [] : [requireValidKey(keyHash, caller, now)]),
  ]);
  if (result.kind === 'written') return { kind: 'created' };
  const [isKnownWatch, , isKnownKey = false] = result.refused;
  if (isKnownWatch) return { kind: 'created' };
  return readRefusal(table, { caller, keyHash, idempotency }, isKnownKey, result.refused);
}

/** The set is absent at first, and after its last watch was deleted. */
function takePlace(caller: string, watchId: string, maxWatches: number): Write {
  return {
    kind: 'update',
    key: itemKeys.watchesOfCaller(caller),
    change: 'ADD #watches :watch',
    condition: 'contains(#watches, :id) OR attribute_not_exists(#watches) OR size(#watches) < :limit',
    values: { ':watch': new Set([watchId]), ':id': watchId, ':limit': maxWatches },
  };
}
