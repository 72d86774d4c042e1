import type { Moment, MomentReview } from '../records/moment.ts';

/** Watch with the begin of what is read of its memory, inclusive. */
export type RememberedWatch = { watchId: string; from: Date };

/** Span of the memory of some watches of a caller, until before `to`. */
export type MomentSpan = { caller: string; watches: readonly RememberedWatch[]; to: Date };

/** Position of a moment in the order of their times. */
export type MomentPosition = Pick<Moment, 'at' | 'moment_id'>;

/** Filters and page of `list`. */
export type MomentQuery = MomentSpan & {
  conditionId?: string | undefined;
  /** Verdict of the condition, or of any without one; `null`: not judged. */
  triggered?: boolean | null | undefined;
  /** True for moments with a review only. */
  reviewed?: boolean | undefined;
  /** Position after which the page begins. */
  after?: MomentPosition | undefined;
  limit: number;
};

/**
 * Page of moments. `next` is the position after which the next page begins, `null` on the last: a page with filters can
 * be short.
 */
export type MomentPage = { moments: Moment[]; next: MomentPosition | null };

/** Stems of a query: those of its own words, and those that the model adds. */
export type QueryStems = { own: readonly string[]; added: readonly string[] };

/**
 * Moment with a word and the rank of its words. `denied_at` is the time of the newest moment of its watch before it
 * that lacks them, `null` if none of the last few does: one without a description only counts if this one has none
 * either. `denies`: it says that something of the words is not there ("no person"), and of nothing that it is.
 */
export type WordMatch = Pick<Moment, 'moment_id' | 'watch_id' | 'at'> & {
  score: number;
  denies: boolean;
  denied_at: string | null;
};

/**
 * The newest moments with a word, best first. `read`: moments of the span as far as it was read, newest first;
 * `readFrom` is the time of the oldest of them if the store ended before, else `null`.
 */
export type WordMatches = { matches: WordMatch[]; read: number; readFrom: string | null };

/**
 * Storage of the memory of watches. A commit of a run adds moments (`RunChange`). A moment that has expired by `now` is
 * in no answer. Each method may throw `TransientError`; a repetition is safe.
 */
export interface MomentStore {
  /** Returns at most `limit` moments, newest first. */
  list(query: MomentQuery, now: Date): Promise<MomentPage>;
  get(caller: string, momentId: string, now: Date): Promise<Moment | undefined>;
  /**
   * Stores a review, and counts in the same transaction what it changes of the misses. Returns undefined if the moment
   * does not exist.
   */
  review(caller: string, momentId: string, review: MomentReview, now: Date): Promise<Moment | undefined>;
  count(span: MomentSpan, now: Date): Promise<number>;
  /** Returns the newest `limit` moments whose text has at least one of the stems. */
  words(span: MomentSpan, stems: QueryStems, limit: number, now: Date): Promise<WordMatches>;
  /** Removes moments of a watch before a time, all without one. Returns their pictures, and whether some are left. */
  remove(watchId: string, before: Date | null, limit: number): Promise<{ keys: string[]; more: boolean }>;
  /** Returns the time of the newest moment of a watch whose picture had to make room; `null` if none had to. */
  picturesKeptFrom(watchId: string): Promise<Date | null>;
}
