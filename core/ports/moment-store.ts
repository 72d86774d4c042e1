import type { Moment } from '../records/moment.ts';

/** Span of the memory of some watches of a caller: `from` inclusive, `to` exclusive. */
export type MomentSpan = { caller: string; watchIds: readonly string[]; from: Date; to: Date };

/** Position of a moment in the order of their times. */
export type MomentPosition = Pick<Moment, 'at' | 'moment_id'>;

/** Filters and page of `list`. */
export type MomentQuery = MomentSpan & {
  conditionId?: string | undefined;
  /** Verdict of the condition, or of any without one; `null`: not judged. */
  triggered?: boolean | null | undefined;
  /** Position after which the page begins. */
  after?: MomentPosition | undefined;
  limit: number;
};

/** Moments with a word, newest first. `read`: moments that were looked through; `readAll` is false if the store ended before the span did. */
export type WordMatches = { moments: Moment[]; read: number; readAll: boolean };

/**
 * Storage of the memory of watches. A commit of a run adds moments (`RunChange`). A moment that has expired by `now` is in no answer. Each method may throw
 * `TransientError`; a repetition is safe.
 */
export interface MomentStore {
  /** Returns at most `limit` moments, newest first. */
  list(query: MomentQuery, now: Date): Promise<Moment[]>;
  get(caller: string, momentId: string, now: Date): Promise<Moment | undefined>;
  /** Returns the number of moments in a span. */
  count(span: MomentSpan, now: Date): Promise<number>;
  /** Returns the newest `limit` moments whose text has at least one of the stems. */
  words(span: MomentSpan, stems: readonly string[], limit: number, now: Date): Promise<WordMatches>;
  /** Removes moments of a watch before a time, all without one. Returns their pictures, and whether some are left. */
  remove(watchId: string, before: Date | null, limit: number): Promise<{ keys: string[]; more: boolean }>;
}
