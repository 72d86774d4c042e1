import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { mergeMoments } from '../../../core/memory/merge-moments.ts';
import { toHour } from '../../../core/policies/watch/counts.ts';
import type { MomentStore } from '../../../core/ports/moment-store.ts';
import { withReview } from '../../../core/records/moment.ts';
import { transaction, withStorageErrors } from '../sqlite/transaction.ts';
import { markDeleted } from '../sqlite/vacuum.ts';
import { createWordReader } from './word-reader.ts';
import type { RunTables } from './run-tables.ts';

export type EmbeddedMomentStore = MomentStore & {
  /**
   * Removes moments that have expired, and those that a change or a deletion has left. Returns the keys of their
   * pictures. Throws `TransientError`.
   */
  sweep(now: Date): Promise<string[]>;
  /** Forgets the oldest pictures of a caller, and returns their keys. Throws `TransientError`. */
  releasePictures(caller: string, limit: number): string[];
};

/** Moments that one transaction removes: others have their turn between two. */
const removedAtOnce = 500;

export function createMomentStore(
  database: DatabaseSync,
  { moments, reviews }: RunTables,
): EmbeddedMomentStore {
  return {
    list: async (query, now) =>
      mergeMoments(query, async ({ watchId, from }, after, limit) => {
        const page = withStorageErrors(() => moments.page({ ...query, after, limit }, watchId, from, now));
        return { moments: page, after: page.length < limit ? null : (page.at(-1) ?? null) };
      }),
    get: async (caller, momentId, now) => withStorageErrors(() => moments.find(caller, momentId, now)),
    review: async (caller, momentId, review, now) =>
      transaction(database, () => {
        const moment = moments.find(caller, momentId, now);
        if (moment === undefined) return undefined;
        const { reviewed, missed } = withReview(moment, review);
        moments.replace(reviewed);
        if (missed !== 0)
          reviews.add(moment.watch_id, toHour(new Date(moment.at)), review.condition_id, { missed });
        return reviewed;
      }),
    ...createWordReader(database),
    remove: async (watchId, before, limit) => {
      const keys: string[] = [];
      for (let left = limit; left > 0; left -= removedAtOnce) {
        const most = Math.min(left, removedAtOnce);
        const removed = transaction(database, () => {
          markDeleted(database);
          return moments.remove(watchId, before, most);
        });
        keys.push(...removed.keys);
        if (!removed.more) return { keys, more: false };
        await setImmediate();
      }
      return { keys, more: true };
    },
    picturesKeptFrom: async (watchId) => withStorageErrors(() => moments.newestReleased(watchId)),
    sweep: async (now) => {
      const keys: string[] = [];
      for (const removeSome of [moments.removeExpired, moments.removeOutdated])
        for (let more = true; more;) {
          const removed = transaction(database, () => removeSome(now, removedAtOnce));
          keys.push(...removed.keys);
          ({ more } = removed);
          await setImmediate();
        }
      return keys;
    },
    releasePictures: (caller, limit) => transaction(database, () => moments.releasePictures(caller, limit)),
  };
}
