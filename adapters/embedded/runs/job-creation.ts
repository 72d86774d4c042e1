import type { CreationResult, JobCreation } from '../../../core/ports/job-store.ts';
import { insertRun } from './run-commit.ts';
import type { RunTables } from './run-tables.ts';

/**
 * Creates a job inside the transaction of the caller. Checks for a replay before it counts slots, since a replay needs no slot.
 * `slotsReserved` is the number of slots that the caller has reserved for other jobs.
 */
export function createJob(
  tables: RunTables,
  creation: JobCreation,
  slotsReserved: number,
  now: Date,
): CreationResult {
  const { job, source, keyHash, idempotency } = creation;
  const earlier = findEarlier(tables, creation, now);
  if (earlier !== undefined) return earlier;
  if (keyHash !== undefined && !tables.hasKey(keyHash, job.caller, now)) return { kind: 'key_invalid' };
  if (tables.slots.count(job.caller) + slotsReserved >= creation.slotLimit) return { kind: 'slots_full' };
  insertRun(tables, job, []);
  tables.sources.put(source);
  tables.slots.take(job.caller, job.run_id);
  if (idempotency !== undefined) tables.idempotency.put(job.caller, idempotency, job.run_id);
  return { kind: 'created' };
}

function findEarlier(
  tables: RunTables,
  { job, idempotency }: JobCreation,
  now: Date,
): CreationResult | undefined {
  const created = tables.runs.find(job.run_id)?.run;
  if (created !== undefined) {
    // The same source means that this creation was committed and its response lost. The job may have ended since, so it takes no
    // slot.
    const isRepeated = created.source_id === job.source_id;
    return isRepeated ? { kind: 'created' } : { kind: 'replayed', jobId: job.run_id };
  }
  if (idempotency === undefined) return undefined;
  const earlier = tables.idempotency.find(job.caller, idempotency.key, now);
  if (earlier === undefined) return undefined;
  if (earlier.requestHash !== idempotency.requestHash) return { kind: 'key_reused' };
  return { kind: 'replayed', jobId: earlier.jobId };
}
