import type { DatabaseSync } from 'node:sqlite';
import {
  statsRetentionSeconds,
  type Feed,
  type WatchCreation,
  type WatchStore,
  toReplay,
  type CreationResult,
} from '../../../core/ports/runs.ts';
import { isWatch, watchRunSchema } from '../../../core/records/run.ts';
import { addSeconds } from '../../../core/time.ts';
import { toHour } from '../../../core/policies/watch/counts.ts';
import { reviewDelta } from '../../../core/watch/stored-watch.ts';
import { insertRun, wakeReaders, type Notify } from './run-store.ts';
import type { RunTables } from './run-tables.ts';
import { transaction, withStorageErrors } from '../sqlite/transaction.ts';

export type EmbeddedWatchStore = WatchStore & {
  /** Removes expired events, alerts and statistics; returns their number. Throws `TransientError`. */
  sweep(now: Date): Promise<number>;
  /**
   * Returns the keys of media that watches need: evidence of open alerts, and newest frames. Throws `TransientError`.
   */
  neededMedia(): Set<string>;
};

/** Creates the watch store of the embedded mode. `notify` is called after a creation. */
export function createWatchStore(
  database: DatabaseSync,
  tables: RunTables,
  notify: Notify,
): EmbeddedWatchStore {
  const { runs, secrets, events, alerts, hours, reviews, sources, idempotency } = tables;
  const readStanding = () => runs.active(['watch']).filter(isWatch);
  return {
    create: async (creation, now) => {
      const result = transaction(database, () => create(creation, now));
      if (result.kind === 'created') wakeReaders(creation, notify);
      return result;
    },
    list: async (caller) => withStorageErrors(() => runs.watches(caller).filter(isWatch)),
    feed: async (caller, after = '0', limit, now) =>
      withStorageErrors(() => readFeed(caller, after, limit, now)),
    feedPosition: async (caller, text) =>
      withStorageErrors(() => {
        const newest = events.newestOfFeed(caller);
        if (text === undefined) return String(newest);
        return /^\d{1,15}$/.test(text) ? String(Math.min(Number(text), newest)) : undefined;
      }),
    alerts: async (query, now) => withStorageErrors(() => alerts.page(query, now)),
    review: async (alertId, review, now) =>
      transaction(database, () => {
        const alert = alerts.find(alertId, now);
        if (alert === undefined) return undefined;
        const reviewed = { ...alert, review };
        alerts.put(reviewed);
        const hour = toHour(new Date(alert.opened_at));
        reviews.add(alert.watch_id, hour, alert.condition_id, reviewDelta(alert, review));
        return reviewed;
      }),
    hours: async (watchId, from, to) => withStorageErrors(() => hours.list(watchId, from, to)),
    reviewedHours: async (watchId, from, to) => withStorageErrors(() => reviews.list(watchId, from, to)),
    standing: async () => withStorageErrors(readStanding),
    neededMedia: () =>
      withStorageErrors(() => {
        const keys = readStanding().flatMap(({ state, sight }) => {
          const open = state.conditions.flatMap(({ alert }) => alert?.alert_id ?? []);
          return [
            sight.last_frame?.key,
            ...open.flatMap((alertId) => {
              const alert = alerts.find(alertId, new Date(0));
              return [alert?.frame_key, alert?.clip?.clip_key];
            }),
          ];
        });
        return new Set(keys.filter((key) => typeof key === 'string'));
      }),
    sweep: async (now) =>
      (await events.removeExpired(now)) +
      (await alerts.removeExpired(now)) +
      (await hours.removeBefore(addSeconds(now, -statsRetentionSeconds))),
  };

  function readFeed(caller: string, after: string, limit: number, now: Date): Feed {
    const read = events.ofFeed(caller, Number(after), limit + 1, now);
    const page = read.slice(0, limit);
    return {
      entries: page.flatMap(({ event, position }) => {
        const watch = runs.find(event.watch_id)?.run;
        return watch && isWatch(watch) ? [{ watch, event, position: String(position) }] : [];
      }),
      position: String(page.at(-1)?.position ?? after),
      hasMore: read.length > limit,
    };
  }

  function create(creation: WatchCreation, now: Date): CreationResult {
    const { maxWatches, keyHash, idempotency: request } = creation;
    const watch = watchRunSchema.parse(creation);
    if (runs.find(watch.run_id)) return { kind: 'created' };
    const earlier = request && idempotency.find(watch.caller, request.key, now);
    if (request && earlier) return toReplay(earlier, request);
    if (keyHash !== undefined && !tables.hasKey(keyHash, watch.caller, now)) return { kind: 'key_invalid' };
    if (runs.countWatches(watch.caller) >= maxWatches) return { kind: 'full' };
    insertRun(tables, watch, creation.events);
    sources.put(creation.source);
    secrets.put(creation.secrets);
    if (request) idempotency.put(watch.caller, request, watch.run_id);
    return { kind: 'created' };
  }
}
