import { z } from 'zod';
import {
  countersSchema,
  zeroCounters,
  type Job,
  type Source,
  type JobPolicy,
  type JobStatus,
} from '../records/job.ts';
import type { Run, RunEvent, WatchProgress, WatchRun } from '../records/run.ts';
import type { Moment } from '../records/moment.ts';
import type { Alert, AlertChange, WatchCounts } from '../records/watch-state.ts';
import type { Watch, WatchSecrets } from '../records/watch.ts';
import type { SeenAddition, SeenHour } from '../records/sight.ts';
import type { JobEvent } from '../records/event.ts';
import type { WatchEvent } from '../records/watch-event.ts';

/** Totals of ended jobs: their number by final status, and the sums of their counters. */
export const totalsSchema = countersSchema.extend({
  jobs_completed: z.int().nonnegative(),
  jobs_stopped: z.int().nonnegative(),
  jobs_failed: z.int().nonnegative(),
});
export type Totals = z.infer<typeof totalsSchema>;
export const noTotals: Totals = { jobs_completed: 0, jobs_stopped: 0, jobs_failed: 0, ...zeroCounters };

/** Fields of a job that a commit may set. All others are fixed at creation. */
export type JobPatch = Partial<
  Pick<
    Job,
    | 'status'
    | 'counters'
    | 'sight'
    | 'sequence'
    | 'last_tick'
    | 'next'
    | 'generation'
    | 'seen'
    | 'handed_over'
    | 'burst'
    | 'execution_ticks'
    | 'lease_until'
    | 'started_at'
    | 'deadline'
    | 'ended_at'
    | 'reason'
    | 'failure'
    | 'expires_at'
    | 'state'
  >
>;

/** Fields of a watch that a commit may set. */
type WatchPatch = Partial<Omit<WatchProgress, 'version' | 'published'>>;

/** Commit of a run: everything in it is stored or nothing. */
export type RunChange<Patch = JobPatch | WatchPatch, Event = RunEvent> = {
  runId: string;
  /** Condition: the stored run has this version. So no two commits are based on the same state. */
  expectedVersion: number;
  /** Fields of the run; the store increments the version. */
  set: Patch;
  events: readonly Event[];
  /** New configuration, of a change by a caller. */
  meta?: Watch;
  /** New stream or capture mode: replaces the source under its id. */
  source?: Source;
  secrets?: WatchSecrets;
  alerts?: readonly AlertChange[];
  /** Pictures that are kept, of a watch. */
  moments?: readonly Moment[];
  /** Additions to the statistics, by the start of the hour (UTC). */
  hours?: readonly { hour: string; counts: Partial<WatchCounts>; seen?: SeenAddition }[];
  /** Caller whose slot becomes free; only in the commit that ends a job. */
  releasesSlotOf?: string;
  /** Addition to the totals; only in the commit that ends a job. */
  totalsDelta?: Totals;
};

/**
 * Storage of runs and of all that their commits change, for all policies. Each method may throw `TransientError`, with
 * or without its effect: a repetition is safe.
 */
export interface RunStore {
  /** Returns undefined for a job that has expired by `now`, and for a deleted watch. */
  get(runId: string, now: Date): Promise<Run | undefined>;
  /** Like `get`, but includes a run until its records are removed: pending deliveries need it. */
  getIncludingEnded(runId: string): Promise<Run | undefined>;
  /** Commits a change. Returns 'outdated', without a change, if the version differs or the run does not exist. */
  commit(change: RunChange): Promise<'committed' | 'outdated'>;
  /** Returns at most `limit` events with a sequence above `after` that are kept, in order. */
  events(runId: string, after: number, limit: number, now: Date): Promise<RunEvent[]>;
  event(runId: string, sequence: number): Promise<RunEvent | undefined>;
  /** Raises `published` to `sequence`; never lowers it. Does not change the version. */
  markPublished(runId: string, sequence: number): Promise<void>;
  source(sourceId: string): Promise<Source | undefined>;
  /** Returns the addresses of a run's destinations. */
  secrets(runId: string): Promise<WatchSecrets | undefined>;
  alert(alertId: string, now: Date): Promise<Alert | undefined>;
  /**
   * Returns ids of runs whose lease has expired, whose newest events are not in the delivery queue, or that can be
   * purged.
   */
  dueForRepair(now: Date, limit: number): Promise<string[]>;
  /** Removes a deleted watch with everything that belongs to it. Has no effect on any other run. */
  purge(runId: string): Promise<void>;
}

export type JobChange = RunChange<JobPatch, JobEvent>;

/** Totals of all jobs: ended ones, plus the current counters of active ones. */
export const usageSchema = totalsSchema.extend({ jobs_created: z.int().nonnegative() });
export type Usage = z.infer<typeof usageSchema>;
export const noUsage: Usage = { ...noTotals, jobs_created: 0 };

/** Idempotency key of a creation; `requestHash` identifies the request. */
export type IdempotencyRecord = { key: string; requestHash: string; expiresAt: Date };

/** Accepted request of an idempotency key, and the job or watch that it created. */
export type IdempotentRequest = { requestHash: string; runId: string };

/**
 * New job with its source. `slotLimit` is the caller's maximum of concurrent jobs. `keyHash` is the key that must be
 * valid when the creation commits.
 */
export type JobCreation = {
  job: Job;
  source: Source;
  slotLimit: number;
  keyHash?: string;
  idempotency?: IdempotencyRecord;
};

/**
 * Slot for a job that is about to be created. Expires at `until`, so that a crashed creation frees it. `jobId`
 * identifies the request, and is the id of its job unless the request shares the reservation of another request.
 */
export type SlotReservation = {
  caller: string;
  jobId: string;
  slotLimit: number;
  until: Date;
  idempotency?: IdempotencyRecord;
};

/** Result of `reserveSlot`. */
export type ReservationResult =
  /**
   * `jobId` is the id for the new job. It is from an earlier request if that holds a reservation with the same
   * idempotency key.
   */
  | { kind: 'reserved'; jobId: string }
  /** The idempotency key has a reservation of another request. */
  | { kind: 'key_reused' }
  | { kind: 'full' };

/** Result of the creation of a job or a watch. */
export type CreationResult =
  | { kind: 'created' }
  /** The same request was accepted under the idempotency key before, and created this run. */
  | { kind: 'replayed'; runId: string }
  /** The idempotency key was used for another request. */
  | { kind: 'key_reused' }
  /** The key was revoked, or its caller erased, since the request was authenticated. */
  | { kind: 'key_invalid' }
  /** The caller has as many jobs or watches as it may have. */
  | { kind: 'full' };

/** Returns the result of a creation whose idempotency key was used before. */
export function toReplay(earlier: IdempotentRequest, { requestHash }: IdempotencyRecord): CreationResult {
  return earlier.requestHash === requestHash
    ? { kind: 'replayed', runId: earlier.runId }
    : { kind: 'key_reused' };
}

/** Filters and page of `list`. */
export type JobQuery = {
  caller: string;
  status?: JobStatus;
  policy?: JobPolicy | undefined;
  label?: string;
  limit: number;
  offset: number;
};

/**
 * Creation and lists of jobs, and their slots; `RunStore` has all that follows a creation. `create` is a transaction.
 * Reads omit records that have expired by `now`.
 */
export interface JobStore {
  /**
   * Reserves a slot, which `create` of the same job takes over. Concurrent requests with the same idempotency key share
   * one reservation and job id. A repetition changes nothing.
   */
  reserveSlot(reservation: SlotReservation, now: Date): Promise<ReservationResult>;
  /**
   * Ends a request's share of a reservation; the last one frees the slot. `holder` is the `jobId` that the request
   * reserved with. Does nothing if the reservation does not exist, or if the job was created.
   */
  releaseSlot(caller: string, jobId: string, holder: string): Promise<void>;
  /**
   * Stores job and source if absent, and takes a slot. A repeated creation returns 'created' again. Returns 'replayed'
   * if another request with the same reservation created the job, with another source.
   */
  create(creation: JobCreation, now: Date): Promise<CreationResult>;
  /** Returns the request of a caller's idempotency key; undefined if the key is unused or has expired. */
  findByIdempotencyKey(caller: string, key: string, now: Date): Promise<IdempotentRequest | undefined>;
  /** Returns a page of jobs, newest first; `total` counts all matches. May lag behind a commit for a moment. */
  list(query: JobQuery, now: Date): Promise<{ jobs: Job[]; total: number }>;
  /** Returns the number of a caller's slots in use. It may include reserved slots. */
  countActive(caller: string): Promise<number>;
  /** Returns the newest `limit` events of a type, oldest first. */
  newestEvents(jobId: string, type: JobEvent['type'], limit: number): Promise<JobEvent[]>;
  /** Returns the totals from one snapshot: a job that ends during the read counts once. */
  usage(): Promise<Usage>;
}

export function sumUsage(ended: Totals, active: readonly Pick<Job, 'counters'>[]): Usage {
  const usage: Usage = {
    ...ended,
    jobs_created: ended.jobs_completed + ended.jobs_stopped + ended.jobs_failed + active.length,
  };
  for (const { counters } of active) {
    for (const counter of countersSchema.keyof().options) usage[counter] += counters[counter];
  }
  return usage;
}

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
