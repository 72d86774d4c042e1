import type { Source } from '../records/job.ts';
import type { Watch, WatchSecrets } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { WatchProgress, WatchRun } from '../records/run.ts';
import type { Alert, WatchCounts } from '../records/watch-state.ts';
import type { SeenHour } from '../records/seen-hour.ts';
import type { CreationResult, IdempotencyRecord } from './job-store.ts';
import type { RunChange, WatchPatch } from './run-store.ts';

/**
 * New watch with its source and the addresses of its destinations. `maxWatches` is the caller's limit. `keyHash` is the
 * key that must be valid when the creation commits.
 */
export type WatchCreation = WatchRun & {
  source: Source;
  secrets: WatchSecrets;
  events: WatchEvent[];
  maxWatches: number;
  keyHash?: string;
  idempotency?: IdempotencyRecord;
};

export type WatchChange = RunChange<WatchPatch, WatchEvent>;

/**
 * Page of the events of all watches of a caller. A position is a text that only its store can read, short enough for a
 * URL and a header.
 */
export type Feed = {
  entries: { watch: Watch; event: WatchEvent; position: string }[];
  /** Position of a reader who has the page. */
  position: string;
  hasMore: boolean;
};
/** Filters and page of `alerts`; newest openings first. */
export type AlertQuery = {
  caller: string;
  watchId?: string | undefined;
  conditionId?: string | undefined;
  state?: 'open' | 'closed' | undefined;
  /** Span in which an alert was open: it opened before `to`, and did not close before `from`. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** Position after which the page begins. */
  after?: AlertPosition | undefined;
  limit: number;
};

export type AlertPosition = Pick<Alert, 'opened_at' | 'alert_id'>;

/** Statistics of one hour (UTC). */
export type HourOfWatch = { hour: string; counts: WatchCounts; seen?: SeenHour | undefined };

/**
 * Reviewed alerts of a condition that opened in one hour (UTC), and moments of the hour that it should have opened an
 * alert about.
 */
export type ReviewedHour = {
  hour: string;
  condition_id: string;
  correct: number;
  wrong: number;
  missed: number;
};

/**
 * Creation and lists of watches, their alerts and statistics; `RunStore` has all that follows a creation. `create` and
 * `review` are transactions.
 */
export interface WatchStore {
  /** Stores a watch if absent. A repeated creation returns 'created' again. */
  create(creation: WatchCreation, now: Date): Promise<CreationResult>;
  /** Returns all watches of a caller, oldest first. */
  list(caller: string): Promise<WatchRun[]>;
  /**
   * Returns at most `limit` events of all watches of a caller after a position of `feedPosition` or of an earlier page,
   * those of deleted watches until their purge. Without position it begins with the oldest that is kept. The events of
   * one watch are in order; a reader gets each once.
   */
  feed(caller: string, after: string | undefined, limit: number, now: Date): Promise<Feed>;
  /**
   * Returns the position of a reader who has all events; with a text the position that it is, now if it is beyond,
   * undefined for another text.
   */
  feedPosition(caller: string, text?: string): Promise<string | undefined>;
  alerts(query: AlertQuery, now: Date): Promise<Alert[]>;
  /** Stores a review and counts it. Replaces an earlier review. Returns undefined if the alert does not exist. */
  review(alertId: string, review: NonNullable<Alert['review']>, now: Date): Promise<Alert | undefined>;
  /**
   * Returns hours with statistics from `from` to before `to`, in order. `readHours` adds the gap of a budget, which no
   * tick has counted yet.
   */
  hours(watchId: string, from: Date, to: Date): Promise<HourOfWatch[]>;
  /** Returns hours with reviews from `from` to before `to`, in order. */
  reviewedHours(watchId: string, from: Date, to: Date): Promise<ReviewedHour[]>;
  /** Returns the runs of all watches that are neither paused nor deleted. May miss watches of the last second. */
  standing(): Promise<WatchProgress[]>;
}

/** Retention of `progress` in the log, in seconds. */
export const progressRetentionSeconds = 86_400;
/** Retention of the statistics of an hour, in seconds. */
export const statsRetentionSeconds = 400 * 86_400;
/** Time after its deletion at which a watch is purged, in seconds: its last deliveries take a day at most. */
export const purgeAfterSeconds = 86_400;
