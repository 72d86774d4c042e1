import type { JobEvent } from '../records/event.ts';
import type { Counters, Source } from '../records/job.ts';
import type { Policy, Run } from '../records/run.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { WatchSecrets } from '../records/watch-secrets.ts';
import type { AlertChange, WatchCounts } from '../records/watch-state.ts';
import type { Watch } from '../records/watch.ts';
import type { JobPatch } from './job-store.ts';
import type { WatchPatch } from './watch-store.ts';

/** Event of the log of a run. */
export type RunEvent = JobEvent | WatchEvent;

/** Totals of ended jobs: their number by final status, and the sums of their counters. */
export type Totals = { jobs_completed: number; jobs_stopped: number; jobs_failed: number } & Counters;

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
  /** Additions to the statistics, by the start of the hour (UTC). */
  hours?: readonly { hour: string; counts: Partial<WatchCounts> }[];
  /** Caller whose slot becomes free; only in the commit that ends a job. */
  releasesSlotOf?: string;
  /** Addition to the totals; only in the commit that ends a job. */
  totalsDelta?: Totals;
};

/**
 * Storage of runs, their sources and their logs, for all policies. Each method may throw `TransientError`, with or without its effect: a repetition is safe.
 */
export interface RunStore<Stored = Run, Event = RunEvent, Change = RunChange> {
  /** Returns undefined for a job that has expired by `now`, and for a deleted watch. */
  get(runId: string, now: Date): Promise<Stored | undefined>;
  /** Like `get`, but includes a run until its records are removed: pending deliveries need it. */
  getIncludingEnded(runId: string): Promise<Stored | undefined>;
  /** Commits a change. Returns 'outdated', without a change, if the version differs or the run does not exist. */
  commit(change: Change): Promise<'committed' | 'outdated'>;
  /** Returns at most `limit` events with a sequence above `after` that are kept, in order. */
  events(runId: string, after: number, limit: number, now: Date): Promise<Event[]>;
  event(runId: string, sequence: number): Promise<Event | undefined>;
  /** Raises `published` to `sequence`; never lowers it. Does not change the version. */
  markPublished(runId: string, sequence: number): Promise<void>;
  source(sourceId: string): Promise<Source | undefined>;
  /** Returns ids of runs whose lease has expired, whose newest events are not in the delivery queue, or that can be purged; of these policies, or of all. */
  dueForRepair(now: Date, limit: number, policies?: readonly Policy[]): Promise<string[]>;
}
