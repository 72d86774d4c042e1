import type { DatabaseSync } from 'node:sqlite';
import {
  purgeAfterSeconds,
  statsRetentionSeconds,
  type WatchChange,
  type WatchCreation,
  type WatchCreationResult,
  type Feed,
  type WatchStore,
} from '../../core/ports/watch-store.ts';
import { watchRunSchema } from '../../core/records/watch-run.ts';
import type { AlertChange } from '../../core/records/watch-state.ts';
import type { Watch } from '../../core/records/watch.ts';
import { addSeconds } from '../../core/time.ts';
import { callerSignal } from '../../core/watch/watch-logs.ts';
import {
  applyWatchChange,
  changeAlert,
  eventExpiry,
  newestDelivered,
  sumByHour,
  reviewDelta,
  weekStart,
} from '../../core/watch/stored-watch.ts';
import { createDeliveryRemoval } from './delivery-store.ts';
import { groupCommits } from './group-commit.ts';
import { createIdempotencyTable } from './idempotency-table.ts';
import { createKeyCheck } from './key-check.ts';
import { createSourceTable } from './source-table.ts';
import { transaction, withStorageErrors } from './transaction.ts';
import { createWatchTables, type WatchTables } from './watch-tables.ts';

export type EmbeddedWatchStore = WatchStore & {
  /** Removes expired events, alerts and statistics; returns their number. Throws `TransientError`. */
  sweep(now: Date): number;
  /** Returns the keys of media that watches need: evidence of open alerts, and newest frames. Throws `TransientError`. */
  neededMedia(): Set<string>;
};

/** Creates the watch store of the embedded mode. A call returns when the data is on disk. */
export function createWatchStore(
  database: DatabaseSync,
  notify: (logId: string) => void = () => undefined,
): EmbeddedWatchStore {
  const tables = createWatchTables(database);
  const commitInGroup = groupCommits(database);
  const { watches, secrets, events, alerts, hours, reviews } = tables;
  const sources = createSourceTable(database);
  const removeDeliveries = createDeliveryRemoval(database);
  const idempotency = createIdempotencyTable(database);
  const hasKey = createKeyCheck(database);
  return {
    create: async (creation, now) => {
      const result = transaction(database, () => create(creation, now));
      if (result.kind === 'created') wake(creation);
      return result;
    },
    commit: async (change) => {
      const result = await commitInGroup(() => commit(change));
      const stored = change.events.length > 0 && watches.find(change.runId)?.stored;
      if (stored) wake(stored);
      return result;
    },
    source: async (sourceId) => withStorageErrors(() => sources.find(sourceId)),
    get: async (watchId) => {
      const stored = withStorageErrors(() => watches.find(watchId)?.stored);
      return stored?.deleted_at === null ? stored : undefined;
    },
    getIncludingEnded: async (watchId) => withStorageErrors(() => watches.find(watchId)?.stored),
    list: async (caller) => withStorageErrors(() => watches.list(caller)),
    secrets: async (watchId) => withStorageErrors(() => secrets.find(watchId)),
    events: async (watchId, after, limit, now) =>
      withStorageErrors(() => events.after(watchId, after, limit, now)),
    event: async (watchId, sequence) => withStorageErrors(() => events.find(watchId, sequence)),
    feed: async (caller, after = '0', limit, now) =>
      withStorageErrors(() => readFeed(caller, after, limit, now)),
    feedPosition: async (caller, text) =>
      withStorageErrors(() => {
        const newest = events.newestOfCaller(caller);
        if (text === undefined) return String(newest);
        return /^\d{1,15}$/.test(text) ? String(Math.min(Number(text), newest)) : undefined;
      }),
    markPublished: async (watchId, sequence) =>
      withStorageErrors(() => watches.markPublished(watchId, sequence)),
    alert: async (alertId, now) => withStorageErrors(() => alerts.find(alertId, now)),
    alerts: async (query, now) => withStorageErrors(() => alerts.page(query, now)),
    review: async (alertId, review, now) =>
      transaction(database, () => {
        const alert = alerts.find(alertId, now);
        if (alert === undefined) return undefined;
        const reviewed = { ...alert, review };
        alerts.put(reviewed);
        const week = weekStart(new Date(alert.opened_at));
        reviews.add(alert.watch_id, week, alert.condition_id, reviewDelta(alert, review));
        return reviewed;
      }),
    hours: async (watchId, from, to) => withStorageErrors(() => hours.list(watchId, from, to)),
    reviewedWeeks: async (watchId, from, to) =>
      withStorageErrors(() => reviews.list(watchId, toDate(from), toDate(to))),
    dueForRepair: async (now, limit) =>
      withStorageErrors(() => {
        const purgeBefore = addSeconds(now, -purgeAfterSeconds);
        const due = [
          ...watches.silentSince(now, limit),
          ...watches.unpublished(limit),
          ...watches.deletedBy(purgeBefore, limit),
        ];
        return [...new Set(due)].slice(0, limit);
      }),
    standing: async () => withStorageErrors(() => watches.standing()),
    purge: async (watchId) => transaction(database, () => purge(watchId)),
    neededMedia: () =>
      withStorageErrors(() => {
        const keys = watches.standing().flatMap(({ state, sight }) => {
          const open = state.conditions.flatMap(({ alert }) => alert?.alert_id ?? []);
          return [
            sight.last_frame?.key,
            ...open.map((alertId) => alerts.find(alertId, new Date(0))?.frame_key),
          ];
        });
        return new Set(keys.filter((key) => typeof key === 'string'));
      }),
    sweep: (now) =>
      transaction(
        database,
        () =>
          events.removeExpired(now) +
          alerts.removeExpired(now) +
          hours.removeBefore(addSeconds(now, -statsRetentionSeconds)),
      ),
  };

  function readFeed(caller: string, after: string, limit: number, now: Date): Feed {
    const read = events.ofCaller(caller, Number(after), limit + 1, now);
    const page = read.slice(0, limit);
    const known = new Map(page.map(({ event: { watch_id: id } }) => [id, watches.findRecord(id)]));
    return {
      entries: page.flatMap(({ event, position }) => {
        const watch = known.get(event.watch_id);
        return watch ? [{ watch, event, position: String(position) }] : [];
      }),
      position: String(page.at(-1)?.position ?? after),
      hasMore: read.length > limit,
    };
  }

  /** Wakes readers of the log of a watch, and of those of all watches of its caller. */
  function wake({ run_id: watchId, caller }: Watch): void {
    notify(watchId);
    notify(callerSignal(caller));
  }

  function create(creation: WatchCreation, now: Date): WatchCreationResult {
    const { maxWatches, keyHash } = creation;
    const watch = watchRunSchema.parse(creation);
    const known = creation.idempotency && idempotency.find(watch.caller, creation.idempotency.key, now);
    if (known !== undefined && known.requestHash !== creation.idempotency?.requestHash)
      return { kind: 'key_reused' };
    if (known !== undefined && known.jobId !== watch.run_id)
      return { kind: 'replayed', watchId: known.jobId };
    if (watches.find(watch.run_id)) return { kind: 'created' };
    if (keyHash !== undefined && !hasKey(keyHash, watch.caller, now)) return { kind: 'key_invalid' };
    if (watches.count(watch.caller) >= maxWatches) return { kind: 'full' };
    watches.insert(watch, newestDelivered(creation.events, 0));
    sources.insert(creation.source);
    secrets.put(creation.secrets);
    for (const event of creation.events)
      events.insert(event, watch.caller, eventExpiry(event, watch.config.retention_days));
    if (creation.idempotency) idempotency.put(watch.caller, creation.idempotency, watch.run_id);
    return { kind: 'created' };
  }

  function commit(change: WatchChange): 'committed' | 'outdated' {
    const found = watches.find(change.runId);
    if (found === undefined || found.stored.version !== change.expectedVersion) return 'outdated';
    const before = found.stored;
    const after = applyWatchChange(before, change);
    watches.update(after, newestDelivered(change.events, found.unpublished));
    if (change.meta) watches.configure(change.meta);
    if (change.source) replaceSource(before.source_id, change.source);
    if (change.secrets) secrets.put(change.secrets);
    for (const event of change.events)
      events.insert(event, after.caller, eventExpiry(event, after.config.retention_days));
    for (const alert of change.alerts ?? []) commitAlert(tables, alert);
    for (const { hour, counts } of sumByHour(change.hours)) hours.add(change.runId, hour, counts);
    if (after.deleted_at !== null) sources.remove(after.source_id);
    return 'committed';
  }

  function replaceSource(sourceId: string, source: Parameters<typeof sources.insert>[0]): void {
    sources.remove(sourceId);
    sources.insert(source);
  }

  function purge(watchId: string): void {
    watches.remove(watchId);
    secrets.remove(watchId);
    events.removeAll(watchId);
    alerts.removeAll(watchId);
    hours.removeAll(watchId);
    reviews.removeAll(watchId);
    removeDeliveries(watchId);
  }
}

/** A change of an alert that has expired has no effect. */
function commitAlert({ alerts }: WatchTables, change: AlertChange): void {
  if (change.kind === 'open') return alerts.put(change.alert);
  const alert = alerts.find(change.alertId, new Date(0));
  if (alert !== undefined) alerts.put(changeAlert(alert, change));
}

function toDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}
