import { z } from 'zod';
import type { JobEvent } from '../records/event.ts';
import { type Job, type JobPolicy, type JobStatus, type Source, countersSchema } from '../records/job.ts';
import { noTotals, totalsSchema, type JobPatch, type RunChange, type Totals } from './run-store.ts';

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
