import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import {
  type CreationResult,
  type JobCreation,
  type JobStore,
  sumUsage,
  toReplay,
  type IdempotencyRecord,
  type ReservationResult,
  type SlotReservation,
} from '../../../core/ports/runs.ts';
import { jobPolicies } from '../../../core/records/job.ts';
import { isJob } from '../../../core/records/run.ts';
import { rules } from '../../../core/rules.ts';
import { addSeconds } from '../../../core/time.ts';
import { insertRun } from './run-store.ts';
import type { RunTables } from './run-tables.ts';
import { withStorageErrors, transaction } from '../sqlite/transaction.ts';

/** Removed jobs, whose media and executions can be removed too, and the number of removed idempotency records. */
export type SweepResult = { jobs: { jobId: string; sourceId: string }[]; idempotencyRecords: number };

export type EmbeddedJobStore = JobStore & {
  /**
   * Extends all active leases to `until`; returns how many changed. Runs at start: downtime looks like lost jobs.
   * Throws `TransientError`.
   */
  renewLeases(until: Date): number;
  /**
   * Removes expired idempotency records and expired jobs with their records. A job stays one hour past its expiry,
   * because its last events may still be in delivery; reads leave it out from its expiry on. Throws `TransientError`;
   * jobs removed before the error stay removed.
   */
  sweep(now: Date): Promise<SweepResult>;
};

export function createJobStore(database: DatabaseSync, tables: RunTables): EmbeddedJobStore {
  const { runs, slots, events, totals, idempotency } = tables;
  const reservations = createSlotReservations();
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
    findByIdempotencyKey: async (caller, key, now) =>
      withStorageErrors(() => idempotency.find(caller, key, now)),
    list: async (query, now) =>
      withStorageErrors(() => ({
        jobs: runs.jobs(query, now).filter(isJob),
        total: runs.countJobs(query, now),
      })),
    countActive: async (caller) => withStorageErrors(() => slots.count(caller)),
    newestEvents: async (jobId, type, limit) => withStorageErrors(() => events.newest(jobId, type, limit)),
    usage: async () =>
      transaction(database, () => sumUsage(totals.read(), runs.active(jobPolicies).filter(isJob))),
    renewLeases: (until) => transaction(database, () => runs.renewLeases(until)),
    sweep: async (now) => {
      const until = addSeconds(now, -rules.deliveryTtlSeconds);
      const expired = withStorageErrors(() => runs.goneBy(until, Number.MAX_SAFE_INTEGER, jobPolicies));
      for (const { run_id: jobId } of expired) {
        await events.removeOfRun(jobId);
        transaction(database, () => tables.removeRun(jobId));
        await setImmediate();
      }
      return {
        jobs: expired.map(({ run_id: jobId, source_id: sourceId }) => ({ jobId, sourceId })),
        idempotencyRecords: await idempotency.removeExpired(now),
      };
    },
  };
}

/**
 * Creates a job inside the transaction of the caller. Checks for a replay before it counts slots, since a replay needs
 * no slot. `slotsReserved` is the number of slots that the caller has reserved for other jobs.
 */
function createJob(
  tables: RunTables,
  creation: JobCreation,
  slotsReserved: number,
  now: Date,
): CreationResult {
  const { job, source, keyHash, idempotency } = creation;
  const created = tables.runs.find(job.run_id)?.run;
  // The same source means that this creation was committed and its response lost. The job may have ended since, so it
  // takes no slot.
  if (created?.source_id === job.source_id) return { kind: 'created' };
  if (created !== undefined) return { kind: 'replayed', runId: job.run_id };
  const earlier = idempotency && tables.idempotency.find(job.caller, idempotency.key, now);
  if (idempotency && earlier) return toReplay(earlier, idempotency);
  if (keyHash !== undefined && !tables.hasKey(keyHash, job.caller, now)) return { kind: 'key_invalid' };
  if (tables.slots.count(job.caller) + slotsReserved >= creation.slotLimit) return { kind: 'full' };
  insertRun(tables, job, []);
  tables.sources.put(source);
  tables.slots.take(job.caller, job.run_id);
  if (idempotency !== undefined) tables.idempotency.put(job.caller, idempotency, job.run_id);
  return { kind: 'created' };
}

/**
 * Reservation until `untilMs` (epoch ms). `holders` are the requests that share it, by the job ids that they reserved
 * with.
 */
type Reservation = { untilMs: number; holders: Set<string>; idempotency: IdempotencyRecord | undefined };

/**
 * Creates reservations of slots for jobs that are being created. They are in memory: a process that crashes creates
 * none of those jobs.
 */
function createSlotReservations() {
  const callers = new Map<string, Map<string, Reservation>>();
  return { reserve, release, remove, count };

  /** Reserves a slot. Returns 'full' if jobs (`slotsTaken`) and reservations use all `slotLimit` slots. */
  function reserve(
    { caller, jobId, slotLimit, until, idempotency }: SlotReservation,
    slotsTaken: number,
    now: Date,
  ): ReservationResult {
    const held = unexpired(caller, now);
    const [sharedId, shared] = findByKey(held, idempotency?.key) ?? [jobId, held.get(jobId)];
    if (shared !== undefined) {
      if (shared.idempotency?.requestHash !== idempotency?.requestHash) return { kind: 'key_reused' };
      shared.holders.add(jobId);
      shared.untilMs = until.getTime();
      return { kind: 'reserved', jobId: sharedId };
    }
    if (slotsTaken + held.size >= slotLimit) return { kind: 'full' };
    held.set(jobId, { untilMs: until.getTime(), holders: new Set([jobId]), idempotency });
    callers.set(caller, held);
    return { kind: 'reserved', jobId };
  }

  function release(caller: string, jobId: string, holder: string): void {
    const holders = callers.get(caller)?.get(jobId)?.holders;
    holders?.delete(holder);
    if (holders?.size === 0) remove(caller, jobId);
  }

  function remove(caller: string, jobId: string): void {
    const held = callers.get(caller);
    held?.delete(jobId);
    if (held?.size === 0) callers.delete(caller);
  }

  /** Returns the number of slots that are reserved for jobs other than this one. */
  function count(caller: string, jobId: string, now: Date): number {
    const held = unexpired(caller, now);
    return held.size - (held.has(jobId) ? 1 : 0);
  }

  function unexpired(caller: string, now: Date): Map<string, Reservation> {
    const held = callers.get(caller) ?? new Map<string, Reservation>();
    for (const [id, { untilMs }] of held) if (untilMs <= now.getTime()) held.delete(id);
    return held;
  }
}

function findByKey(
  held: Map<string, Reservation>,
  key: string | undefined,
): [string, Reservation] | undefined {
  if (key === undefined) return undefined;
  return [...held].find(([, { idempotency }]) => idempotency?.key === key);
}
