import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { rules } from '../../core/rules.ts';
import type { Job } from '../../core/records/job.ts';
import { withStorageErrors, transaction } from './transaction.ts';
import { createDeliveryRemoval } from './delivery-store.ts';
import type { JobTables } from './job-tables.ts';

/** Removed jobs, whose media and executions can be removed too, and the number of removed idempotency records. */
export type SweepResult = { jobs: { jobId: string; sourceId: string }[]; idempotencyRecords: number };

/**
 * Removes expired idempotency records and expired jobs with their records. A job stays one hour past its expiry, because its last
 * events may still be in delivery; reads leave it out from its expiry on.
 */
export async function sweepJobs(database: DatabaseSync, tables: JobTables, now: Date): Promise<SweepResult> {
  const removeDeliveries = createDeliveryRemoval(database);
  const jobs = withStorageErrors(() =>
    tables.jobs.expiredBy(new Date(now.getTime() - rules.deliveryTtlSeconds * 1000)),
  );
  for (const job of jobs) {
    transaction(database, () => {
      removeJob(tables, job);
      removeDeliveries(job.run_id);
    });
    // A job that ran for a day has 17,000 events: yield between two jobs.
    await setImmediate();
  }
  const idempotencyRecords = transaction(database, () => tables.idempotency.removeExpired(now));
  return { jobs: jobs.map((job) => ({ jobId: job.run_id, sourceId: job.source_id })), idempotencyRecords };
}

function removeJob(tables: JobTables, job: Job): void {
  tables.events.removeAll(job.run_id);
  tables.sources.remove(job.source_id);
  tables.slots.free(job.caller, job.run_id);
  tables.jobs.remove(job.run_id);
}
