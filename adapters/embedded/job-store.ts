import type { DatabaseSync } from 'node:sqlite';
import { hasExpired } from '../../core/records/job.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { commitChange } from './job-commit.ts';
import { createJob } from './job-creation.ts';
import { sweepJobs, type SweepResult } from './job-sweep.ts';
import { groupCommits } from './group-commit.ts';
import { createSlotReservations } from './slot-reservations.ts';
import { createJobTables, type JobTables } from './job-tables.ts';
import { withStorageErrors, transaction } from './transaction.ts';
import { sumUsage } from '../../core/job/sum-usage.ts';

export type EmbeddedJobStore = JobStore & {
  /**
   * Extends all active leases to `until`; returns how many changed. Runs at start: downtime looks like lost jobs. Throws
   * `TransientError`.
   */
  renewLeases(until: Date): number;
  /** Removes expired jobs (`job-sweep.ts`). Throws `TransientError`; jobs removed before the error stay removed. */
  sweep(now: Date): Promise<SweepResult>;
};

/**
 * Creates the job store of the embedded mode. A call returns when the data is on disk and blocks the event loop until then, under
 * a millisecond on an SSD. Commits of ticks that end together wait for the disk once. `onCommit` is called after a job's log has grown. Throws `TransientError`, and `StorageError` for an unreadable record.
 */
export function createJobStore(
  database: DatabaseSync,
  onCommit: (jobId: string) => void = () => undefined,
): EmbeddedJobStore {
  const tables = createJobTables(database);
  const { jobs, sources, slots, events, totals } = tables;
  const reservations = createSlotReservations();
  const commitInGroup = groupCommits(database);
  return {
    reserveSlot: async (reservation, now) =>
      withStorageErrors(() => reservations.reserve(reservation, slots.count(reservation.caller), now)),
    releaseSlot: async (caller, jobId, holder) => reservations.release(caller, jobId, holder),
    create: async (creation, now) => {
      const { caller, run_id: jobId } = creation.job;
      const slotsReserved = reservations.count(caller, jobId, now);
      const result = transaction(database, () => createJob(tables, creation, slotsReserved, now));
      if (result.kind === 'created') reservations.remove(caller, jobId);
      return result;
    },
    commit: async (change) => {
      const result = await commitInGroup(() => commitChange(tables, change));
      if (result === 'committed' && change.events.length > 0) onCommit(change.runId);
      return result;
    },
    get: async (jobId, now) => {
      const job = withStorageErrors(() => jobs.find(jobId));
      return job === undefined || hasExpired(job, now) ? undefined : job;
    },
    findByIdempotencyKey: async (caller, key, now) =>
      withStorageErrors(() => tables.idempotency.find(caller, key, now)),
    getIncludingEnded: async (jobId) => withStorageErrors(() => jobs.find(jobId)),
    source: async (sourceId) => withStorageErrors(() => sources.find(sourceId)),
    list: async (query, now) =>
      withStorageErrors(() => ({ jobs: jobs.page(query, now), total: jobs.count(query, now) })),
    countActive: async (caller) => withStorageErrors(() => slots.count(caller)),
    events: async (jobId, after, limit) => withStorageErrors(() => events.after(jobId, after, limit)),
    newestEvents: async (jobId, type, limit) => withStorageErrors(() => events.newest(jobId, type, limit)),
    event: async (jobId, sequence) => withStorageErrors(() => events.find(jobId, sequence)),
    markPublished: async (jobId, sequence) =>
      transaction(database, () => markPublished(tables, jobId, sequence)),
    dueForRepair: async (now, limit) => withStorageErrors(() => dueForRepair(tables, now, limit)),
    usage: async () => transaction(database, () => sumUsage(totals.read(), jobs.active())),
    renewLeases: (until) => transaction(database, () => renewLeases(tables, until)),
    sweep: (now) => sweepJobs(database, tables, now),
  };
}

function markPublished({ jobs }: JobTables, jobId: string, sequence: number): void {
  const job = jobs.find(jobId);
  if (job !== undefined && job.published < sequence) jobs.update({ ...job, published: sequence });
}

/** Returns lost jobs before jobs with unpublished events, so that an unreachable receiver cannot crowd them out. */
function dueForRepair({ jobs }: JobTables, now: Date, limit: number): string[] {
  const due = new Set([...jobs.silentSince(now, limit), ...jobs.unpublished(limit)]);
  return [...due].slice(0, limit);
}

function renewLeases({ jobs }: JobTables, until: Date): number {
  const active = jobs.activeWithLeaseBefore(until);
  for (const job of active) jobs.update({ ...job, lease_until: until.toISOString() });
  return active.length;
}
