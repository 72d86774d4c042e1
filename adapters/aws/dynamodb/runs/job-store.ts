import type { JobStore } from '../../../../core/ports/job-store.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { readNewestEvents } from './event-items.ts';
import { createJob, findIdempotencyRecord } from './job-creation.ts';
import { listJobs } from './job-list.ts';
import type { RunDeps } from './run-commit.ts';
import { countSlots, releaseSlot, reserveSlot } from './slots.ts';
import { readUsage } from '../callers/usage.ts';

/** Creates the job store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createJobStore(deps: RunDeps, backoff: BackoffDeps): JobStore {
  const { table } = deps;
  return {
    reserveSlot: async (reservation, now) => reserveSlot(table, reservation, now),
    releaseSlot: async (caller, jobId, holder) => releaseSlot(table, caller, jobId, holder),
    create: async (creation, now) => createJob(deps, creation, now),
    findByIdempotencyKey: async (caller, key, now) => {
      const earlier = await findIdempotencyRecord(table, caller, key);
      if (earlier === undefined || earlier.expires_at_ms <= now.getTime()) return undefined;
      return { requestHash: earlier.request_hash, jobId: earlier.job_id };
    },
    list: async (query, now) => listJobs(deps, query, now),
    countActive: async (caller) => countSlots(table, caller),
    newestEvents: async (jobId, type, limit) => readNewestEvents(table, jobId, type, limit),
    usage: async () => readUsage(table, backoff),
  };
}
