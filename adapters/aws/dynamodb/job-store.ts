import { hasExpired, type Job } from '../../../core/records/job.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import { createEventReads } from './event-reads.ts';
import { commitChange } from './job-commit.ts';
import { createJob, findIdempotencyRecord } from './job-creation.ts';
import { readJobItem } from './job-item.ts';
import { listJobs } from './job-list.ts';
import { dueForRepair, markPublished } from './job-repair.ts';
import type { BackoffDeps } from '../../retry-with-backoff.ts';
import type { ItemRules } from './item-rules.ts';
import { itemKeys } from './keys.ts';
import { readSource } from './source-item.ts';
import { countSlots, releaseSlot, reserveSlot } from './slots.ts';
import type { Table } from './table.ts';
import { readUsage } from './usage.ts';

/** Creates the job store. Its methods throw `TransientError`, and `StorageError` for an unreadable record. */
export function createJobStore(table: Table, rules: ItemRules, backoff: BackoffDeps): JobStore {
  const deps = { table, ...rules };
  return {
    reserveSlot: async (reservation, now) => reserveSlot(table, reservation, now),
    releaseSlot: async (caller, jobId, holder) => releaseSlot(table, caller, jobId, holder),
    create: async (creation, now) => createJob(deps, creation, now),
    commit: async (change) => commitChange(deps, change),
    get: async (jobId, now) => {
      const job = await find(jobId);
      return job === undefined || hasExpired(job, now) ? undefined : job;
    },
    getIncludingEnded: find,
    findByIdempotencyKey: async (caller, key, now) => {
      const known = await findIdempotencyRecord(table, caller, key);
      if (known === undefined || known.expires_at_ms <= now.getTime()) return undefined;
      return { requestHash: known.request_hash, jobId: known.job_id };
    },
    source: async (sourceId) => readSource(table, sourceId),
    list: async (query, now) => listJobs(deps, query, now),
    countActive: async (caller) => countSlots(table, caller),
    ...createEventReads(table),
    markPublished: async (jobId, sequence) => markPublished(deps, jobId, sequence),
    dueForRepair: async (now, limit) => dueForRepair(deps, now, limit),
    usage: async () => readUsage(table, backoff),
  };

  async function find(jobId: string): Promise<Job | undefined> {
    const item = await table.get(itemKeys.job(jobId));
    return item && readJobItem(item).job;
  }
}
