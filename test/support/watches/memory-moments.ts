import { newestFirst, passesFilters } from '../../../core/memory/merge-moments.ts';
import { matchWords } from '../../../core/memory/match-words.ts';
import type { MomentSpan, MomentStore } from '../../../core/ports/moment-store.ts';
import { withReview, type Moment } from '../../../core/records/moment.ts';

/** Creates a store of moments in memory. */
export function createMemoryMoments(stored: Moment[] = []): MomentStore & { stored: Moment[] } {
  const within = ({ caller, watches, to }: MomentSpan, now: Date) =>
    stored
      .filter((moment) => moment.caller === caller && new Date(moment.at) < to)
      .filter(({ watch_id: id, at }) =>
        watches.some(({ watchId, from }) => watchId === id && new Date(at) >= from),
      )
      .filter(({ expires_at: end }) => new Date(end) > now)
      .toSorted(newestFirst);
  return {
    stored,
    list: async (query, now) => {
      const { after, limit } = query;
      const left = within(query, now)
        .filter((moment) => passesFilters(moment, query))
        .filter((moment) => !after || newestFirst(after, moment) < 0);
      const moments = left.slice(0, limit);
      return { moments, next: left.length > limit ? (moments.at(-1) ?? null) : null };
    },
    get: async (caller, id, now) =>
      stored.find(
        (moment) => moment.moment_id === id && moment.caller === caller && new Date(moment.expires_at) > now,
      ),
    review: async (caller, id, review) => {
      const index = stored.findIndex((moment) => moment.moment_id === id && moment.caller === caller);
      const moment = stored[index];
      if (!moment) return undefined;
      stored[index] = withReview(moment, review).reviewed;
      return stored[index];
    },
    count: async (span, now) => within(span, now).length,
    words: async (span, stems, limit, now) => matchWords(within(span, now), stems, limit),
    remove: async (watchId, before, limit) => {
      const old = stored.filter(
        ({ watch_id: id, at }) => id === watchId && (before === null || new Date(at) < before),
      );
      const removed = old.slice(0, limit);
      stored.splice(0, stored.length, ...stored.filter((moment) => !removed.includes(moment)));
      return { keys: removed.flatMap(({ frame_key: key }) => key ?? []), more: old.length > removed.length };
    },
    picturesKeptFrom: async () => null,
  };
}
