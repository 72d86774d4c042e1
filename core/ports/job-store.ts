import type { JobEvent } from '../records/event.ts';
import type { DigestState } from '../records/digest-state.ts';
import type { Counters, Job, JobStatus, JobType, Source } from '../records/job.ts';

/** The fields of a job that a change may set; the rest is fixed at creation. */
export type JobPatch = Partial<
  Pick<
    Job,
    | 'status'
    | 'counters'
    | 'watch'
    | 'sequence'
    | 'last_tick'
    | 'next'
    | 'generation'
    | 'handed_over'
    | 'lease_until'
    | 'started_at'
    | 'deadline'
    | 'ended_at'
    | 'reason'
    | 'failure'
    | 'expires_at'
  > & { /** Of digests only. */ digest: DigestState }
>;

/** One change of truth: job, events and slot together, or nothing. */
export type JobChange = {
  jobId: string;
  /** The change holds only if the stored job is in one of these states … */
  from: readonly JobStatus[];
  /** … and its newest event still has this number, so that two changes never build on the same state. */
  expectedSequence: number;
  set: JobPatch;
  events: JobEvent[];
  /** Set by the change that ends the job: whose slot becomes free. */
  releasesSlotOf?: string;
  /** Set by the change that ends the job: what it adds to the totals. */
  totalsDelta?: Totals;
};

/** What an ended job adds to the totals: itself, by its final status, and its counters. */
export type Totals = { jobs_completed: number; jobs_stopped: number; jobs_failed: number } & Counters;

/** What all jobs have come to: the totals of ended ones with the counters of active ones as they stand. */
export type Usage = Totals & { jobs_created: number };

export type IdempotencyRecord = { key: string; requestHash: string; expiresAt: Date };

/** A request that was accepted under an idempotency key, and the job that it made. */
export type IdempotentRequest = { requestHash: string; jobId: string };

export type JobCreation = { job: Job; source: Source; slotLimit: number; idempotency?: IdempotencyRecord };

/**
 * A slot held for a job that is about to be created: until `until`, after which a crashed creation no longer holds it. `jobId` names the
 * request that holds it, and its job unless the request shares the reservation of another one.
 */
export type SlotReservation = {
  caller: string;
  jobId: string;
  slotLimit: number;
  until: Date;
  idempotency?: IdempotencyRecord;
};

export type ReservationResult =
  /** `jobId` is the id to create the job with: of the reservation that an earlier request with the same idempotency key holds, if any. */
  | { kind: 'reserved'; jobId: string }
  /** A reservation with the idempotency key belongs to another request. */
  | { kind: 'key_reused' }
  | { kind: 'slots_full' };

export type CreationResult =
  | { kind: 'created' }
  /** The same idempotency key and request were seen before: this is the job they made. */
  | { kind: 'replayed'; jobId: string }
  /** The idempotency key belongs to another request. */
  | { kind: 'key_reused' }
  | { kind: 'slots_full' };

export type JobQuery = {
  caller: string;
  status?: JobStatus;
  jobType?: JobType;
  limit: number;
  offset: number;
};

/**
 * Where jobs, sources, events and slots live. `create` and `commit` are transactions. Any method may throw
 * `TransientError` with its effect done or not: repeating it is safe. Reads leave out what has expired by `now`.
 */
export interface JobStore {
  /**
   * Holds a slot before the job is created: `create` of the same job takes it over. Concurrent requests with the same idempotency key share
   * one reservation and job id. Repeating it changes nothing.
   */
  reserveSlot(reservation: SlotReservation, now: Date): Promise<ReservationResult>;
  /**
   * Ends a request's share of a reservation; `holder` is the `jobId` that the request reserved with. The last one frees the slot. Does
   * nothing if there is no reservation, and if the job was created.
   */
  releaseSlot(caller: string, jobId: string, holder: string): Promise<void>;
  /**
   * Puts job and source if absent and takes a slot. Repeating a creation that took effect is 'created' again; if a request that shares the
   * reservation created the job, with another source, it is 'replayed'.
   */
  create(creation: JobCreation, now: Date): Promise<CreationResult>;
  /** 'outdated': the job is gone, in another state, or has moved on; nothing was changed. */
  commit(change: JobChange): Promise<'committed' | 'outdated'>;
  get(jobId: string, now: Date): Promise<Job | undefined>;
  /** As `get`, with what has expired and is not removed yet: events outlive their job by the time that deliveries may take. */
  getIncludingExpired(jobId: string): Promise<Job | undefined>;
  /** What an idempotency key of the caller was used for; undefined when never, or when that is forgotten. */
  findByIdempotencyKey(caller: string, key: string, now: Date): Promise<IdempotentRequest | undefined>;
  source(sourceId: string): Promise<Source | undefined>;
  /** Newest first; `total` counts all that match. May be a moment behind what was changed. */
  list(query: JobQuery, now: Date): Promise<{ jobs: Job[]; total: number }>;
  /** Number of slots that active jobs hold; a reserved slot may be in it. */
  countActive(caller: string): Promise<number>;
  /** Events with a sequence above `after`, in order, at most `limit`. */
  events(jobId: string, after: number, limit: number): Promise<JobEvent[]>;
  /** The newest `limit` events of a type, oldest first. */
  newestEvents(jobId: string, type: JobEvent['type'], limit: number): Promise<JobEvent[]>;
  event(jobId: string, sequence: number): Promise<JobEvent | undefined>;
  /** Moves `published` forward, never back. */
  markPublished(jobId: string, sequence: number): Promise<void>;
  /** Ids of jobs whose lease ran out before `now`, and of jobs with a webhook whose newest events did not reach the queue. */
  dueForRepair(now: Date, limit: number): Promise<string[]>;
  /** One snapshot: a job that ends meanwhile is in it once. */
  usage(): Promise<Usage>;
}
