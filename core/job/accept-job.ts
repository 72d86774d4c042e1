import type { CoreDeps } from '../dependencies.ts';
import { rules } from '../rules.ts';
import { addSeconds } from '../time.ts';
import {
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  MaxJobsReachedError,
  UnauthorizedError,
  JobNotFoundError,
  WatchpostError,
} from '../errors.ts';
import {
  zeroCounters,
  initialJobSight,
  type JobBase,
  type Source,
  type Job,
  type JobPolicy,
} from '../records/job.ts';
import type { WebhookEventType } from '../records/delivery.ts';
import { initialProgress } from '../records/run-base.ts';
import { maskUrl } from '../stream/mask-url.ts';
import type { IdempotencyRecord } from '../ports/runs.ts';
import { jobLog } from '../ports/observability.ts';
import { streamSchemes } from '../records/platform.ts';
import type { JobPlan, PlanDeps, PolicyFields } from '../policies/job/policy.ts';
import { probeStream, requireCapacity } from '../stream/stream-access.ts';
import { withDecisions } from '../policies/job-policies.ts';
import { requireOwnJob } from './read-jobs.ts';
import { asJob } from '../records/run.ts';
import type { KeyCrypto } from '../access/api-key.ts';

type AcceptDeps = Pick<
  CoreDeps,
  | 'runs'
  | 'jobs'
  | 'callers'
  | 'streams'
  | 'turns'
  | 'urls'
  | 'webhookUrls'
  | 'executions'
  | 'limits'
  | 'log'
  | 'now'
  | 'newId'
  | 'streamPhase'
  | 'pace'
>;

/** Source of a request, besides its fields. */
type Origin = {
  /**
   * Key that must still be valid when the job is stored: the probe of its stream takes up to 20 s, in which the key can
   * be revoked and its caller erased.
   */
  keyHash?: string;
  /** Notice about fields of the request that were ignored. */
  ignored?: string | undefined;
  /** Job that runs again: the new one has its notices, and its types of webhook events. */
  again?: Pick<JobBase, 'notices' | 'webhook_events'>;
};

export type JobRequest = {
  stream_url: string;
  webhook_url?: string | null | undefined;
  webhook_events?: WebhookEventType[] | null | undefined;
  labels: string[];
};

type JobSpec<Fields extends PolicyFields> = JobPlan<Fields> & { request: JobRequest; origin: Origin };

/**
 * Accepts a job as its policy plans it: reserves a slot, probes the stream, stores the job and then starts its
 * execution. `reconcile` repairs an interrupted start. Throws the contract's errors, `IdempotencyKeyReusedError`, and
 * `IdempotencyConflictError`; it stores nothing then.
 */
export async function acceptJob<Request extends JobRequest, Fields extends PolicyFields>(
  plan: (request: Request, deps: PlanDeps) => JobPlan<Fields>,
  request: Request,
  caller: string,
  deps: AcceptDeps & PlanDeps,
  idempotency?: IdempotencyRecord,
  origin: Origin = {},
): Promise<JobBase & Fields> {
  // The request is checked before the stream is probed.
  plan(request, deps);
  checkUrls(request, deps);
  requireCapacity(deps, caller);
  const holder = deps.newId();
  const jobId = await reserveSlot(holder, caller, deps, idempotency);
  const create = async () => {
    const { framesOnly } = await probeStream(request.stream_url, caller, deps);
    const wanted = { ...plan(request, { ...deps, framesOnly }), request, origin };
    return storeJob(wanted, jobId, caller, deps, idempotency);
  };
  const job = await create().catch(async (error: unknown) => {
    await releaseQuietly(jobId, holder, caller, deps);
    throw error;
  });
  jobLog(deps.log, job.run_id).info('Job accepted', {
    caller,
    policy: job.policy,
    stream_url: job.stream_url,
  });
  await startQuietly(job, deps);
  return job;
}

/**
 * Bounds the streams that a caller can have probed concurrently; the slot is the job's once it is stored. Returns the
 * job's id: that of a concurrent request with the same idempotency key, if there is one, so that both need one slot.
 */
async function reserveSlot(
  holder: string,
  caller: string,
  { jobs, limits, now }: AcceptDeps,
  idempotency?: IdempotencyRecord,
): Promise<string> {
  const slotLimit = limits.jobsPerCaller;
  const until = addSeconds(now(), rules.slotReservationSeconds);
  const reservation = { caller, jobId: holder, slotLimit, until, ...(idempotency && { idempotency }) };
  const result = await jobs.reserveSlot(reservation, now());
  if (result.kind === 'full') throw new MaxJobsReachedError(slotLimit);
  if (result.kind === 'key_reused') throw new IdempotencyKeyReusedError();
  return result.jobId;
}

async function storeJob<Fields extends PolicyFields>(
  wanted: JobSpec<Fields>,
  jobId: string,
  caller: string,
  deps: AcceptDeps,
  idempotency?: IdempotencyRecord,
): Promise<JobBase & Fields> {
  const webhookEvents = await chooseWebhookEvents(wanted, caller, deps);
  const { job, source } = newJob({ ...wanted, webhookEvents }, jobId, caller, deps);
  const slotLimit = deps.limits.jobsPerCaller;
  const { keyHash } = wanted.origin;
  const result = await deps.jobs.create(
    {
      job,
      source,
      slotLimit,
      ...(keyHash !== undefined && { keyHash }),
      ...(idempotency && { idempotency }),
    },
    deps.now(),
  );
  if (result.kind === 'full') throw new MaxJobsReachedError(slotLimit);
  if (result.kind === 'key_invalid') throw new UnauthorizedError();
  if (result.kind !== 'created') throw new IdempotencyConflictError();
  return job;
}

/** The caller needs the error of the creation; a reservation that cannot be released expires. */
async function releaseQuietly(
  jobId: string,
  holder: string,
  caller: string,
  { jobs, log }: AcceptDeps,
): Promise<void> {
  await jobs.releaseSlot(caller, jobId, holder).catch((error: unknown) => {
    log.warning('Slot not released; its reservation expires', { caller, error: String(error) });
  });
}

function checkUrls(request: JobRequest, { urls, webhookUrls }: AcceptDeps): void {
  urls.check(request.stream_url, streamSchemes);
  if (request.webhook_url) webhookUrls.check(request.webhook_url, ['http', 'https']);
}

/**
 * Returns the filter of the request or of the job that runs again, else the default of the caller; `null` for all types
 * and for a job without a webhook.
 */
async function chooseWebhookEvents(
  { request, origin }: JobSpec<PolicyFields>,
  caller: string,
  { callers }: AcceptDeps,
): Promise<WebhookEventType[] | null> {
  if (!request.webhook_url) return null;
  if (origin.again) return origin.again.webhook_events;
  if (request.webhook_events) return [...new Set(request.webhook_events)];
  return (await callers.find(caller))?.webhook_events ?? null;
}

function newJob<Fields extends PolicyFields>(
  {
    request,
    fields,
    capture,
    notices,
    origin,
    webhookEvents,
  }: JobSpec<Fields> & { webhookEvents: WebhookEventType[] | null },
  jobId: string,
  caller: string,
  deps: AcceptDeps,
) {
  const now = deps.now();
  const source: Source = { source_id: deps.newId(), caller, url: request.stream_url, ...capture };
  const base: JobBase = {
    run_id: jobId,
    caller,
    status: 'pending',
    created_at: now.toISOString(),
    stream_url: maskUrl(request.stream_url),
    source_id: source.source_id,
    stream_phase: deps.streamPhase(request.stream_url),
    webhook_url: request.webhook_url ?? null,
    webhook_events: webhookEvents,
    notices: listNotices([...notices, webhookEventsNotice(request), origin.ignored], origin),
    labels: [...new Set(request.labels)],
    model_grace_seconds: deps.limits.modelGraceSeconds,
    counters: zeroCounters,
    ...initialProgress,
    sight: initialJobSight,
    lease_until: addSeconds(now, rules.startLeaseSeconds).toISOString(),
    started_at: null,
    deadline: null,
    ended_at: null,
    reason: null,
    failure: null,
    expires_at: null,
  };
  return { job: { ...base, ...fields }, source };
}

/** Lists each notice once, with those of the job that runs again. */
function listNotices(notices: (string | undefined)[], { again }: Origin): string[] {
  const all = [...(again?.notices ?? []), ...notices.filter((notice) => notice !== undefined)];
  return [...new Set(all)];
}

function webhookEventsNotice({ webhook_url: url, webhook_events: events }: JobRequest) {
  return events && !url ? 'webhook_events has no effect without webhook_url.' : undefined;
}

async function startQuietly(job: JobBase, { executions, log }: AcceptDeps): Promise<void> {
  try {
    await executions.start({ run_id: job.run_id, generation: job.generation });
  } catch (error) {
    jobLog(log, job.run_id).warning('Execution not started yet; reconcile starts it', {
      error: String(error),
    });
  }
}

/**
 * Creates a job with the request of another one, which may have ended. Its stream URL is read from the store, because
 * callers see it masked. Its webhook gets the same types of events, also if the defaults have changed. Throws
 * `JobNotFoundError` and the errors of a creation.
 */
export async function runAgain(
  jobId: string,
  caller: string,
  deps: AcceptDeps & PlanDeps,
  idempotency?: IdempotencyRecord,
  origin: Pick<Origin, 'keyHash'> = {},
): Promise<Job> {
  const job = await requireOwnJob(jobId, caller, deps);
  const source = await deps.runs.source(job.source_id);
  if (source === undefined) throw new JobNotFoundError(deps.limits.retentionSeconds);
  const { webhook_url, labels, config } = job;
  const request = { ...config, stream_url: source.url, webhook_url, labels };
  const plan = withDecisions(job, (_, decisions) => decisions.planAgain);
  return acceptJob(plan, request, caller, deps, idempotency, { ...origin, again: job });
}

type Deps = Pick<CoreDeps, 'runs' | 'jobs' | 'now'> & Pick<KeyCrypto, 'sha256'>;

/**
 * `request` is the parsed body, or the job that runs again: another order of fields, or an explicit default, is the
 * same request.
 */
export type KeyedRequest = { key: string | undefined; kind: JobPolicy | 'run-again'; request: object };

/**
 * Creates a job once per idempotency key of a caller. A repeated request returns that job in its current state, without
 * a probe of the stream. After a refusal the key is read again: a concurrent request with the same key may have created
 * the job meanwhile. Until then both share one reserved slot (`JobStore.reserveSlot`). Throws
 * `IdempotencyKeyReusedError` for another request, and the errors of `create`.
 */
export async function createIdempotently<Created extends Job>(
  { key, kind, request }: KeyedRequest,
  caller: string,
  deps: Deps,
  create: (idempotency?: IdempotencyRecord) => Promise<Created>,
): Promise<Job> {
  if (key === undefined) return create();
  const requestHash = deps.sha256(JSON.stringify([kind, Object.entries(request).toSorted(byName)]));
  const record = { key, requestHash, expiresAt: addSeconds(deps.now(), rules.idempotencyKeySeconds) };
  const earlier = await findEarlier(record, caller, deps);
  if (earlier !== undefined) return earlier;
  try {
    return await create(record);
  } catch (error) {
    const winner = await findEarlier(record, caller, deps);
    if (winner === undefined) throw error;
    return winner;
  }
}

async function findEarlier(
  { key, requestHash }: IdempotencyRecord,
  caller: string,
  { runs, jobs, now }: Deps,
): Promise<Job | undefined> {
  const earlier = await jobs.findByIdempotencyKey(caller, key, now());
  if (earlier === undefined) return undefined;
  if (earlier.requestHash !== requestHash) throw new IdempotencyKeyReusedError();
  const job = asJob(await runs.get(earlier.runId, now()));
  if (job === undefined) throw jobGone();
  return job;
}

/** Creates the error for a key whose job has expired: the key prevents a second job. */
function jobGone(): WatchpostError {
  return new WatchpostError(
    'JOB_NOT_FOUND',
    'Job not found',
    'The job that this Idempotency-Key made has ended and is no longer kept. Use a new key to start another.',
  );
}

function byName([first]: [string, unknown], [second]: [string, unknown]): number {
  return first < second ? -1 : 1;
}
