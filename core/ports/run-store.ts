import { z } from 'zod';
import { countersSchema, zeroCounters, type Job, type Source } from '../records/job.ts';
import type { Run, RunEvent, WatchProgress } from '../records/run.ts';
import type { Moment } from '../records/moment.ts';
import type { Alert, AlertChange, WatchCounts } from '../records/watch-state.ts';
import type { Watch, WatchSecrets } from '../records/watch.ts';
import type { SeenAddition } from '../records/seen-hour.ts';

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
export type WatchPatch = Partial<Omit<WatchProgress, 'version' | 'published'>>;

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
