import type { Collaborators } from '../collaborators.ts';
import { rules } from '../decision/rules.ts';
import { addSeconds } from '../decision/schedule.ts';
import { IdempotencyConflictError, MaxJobsReachedError } from '../errors.ts';
import { noCounts, nothingWatched } from '../job.ts';
import type { DigestJob, JobBase, MonitorJob, Source } from '../job.ts';
import { maskUrl } from '../mask-url.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import { jobLog } from '../ports/log.ts';
import { probeStream } from './reach-stream.ts';

export type AcceptNeeds = Pick<
  Collaborators,
  'jobs' | 'streams' | 'urls' | 'webhookUrls' | 'executions' | 'limits' | 'log' | 'now' | 'newId'
>;

/** What tells one type of job from another. */
type Kind = Pick<MonitorJob, 'job_type' | 'config'> | Pick<DigestJob, 'job_type' | 'config' | 'digest'>;

export type Wanted<K extends Kind> = {
  request: { stream_url: string; webhook_url?: string | null | undefined };
  kind: K;
  capture: Pick<Source, 'input_mode' | 'clip_duration_seconds'>;
};

/**
 * Accepts a job of any type: the stream is live, a slot is free, the job is stored; only then is its execution started. A start
 * that is lost is made up for by `reconcile`. Throws the contract's errors, and `IdempotencyConflictError`; nothing is stored then.
 */
export async function acceptJob<K extends Kind>(
  wanted: Wanted<K>,
  caller: string,
  c: AcceptNeeds,
  idempotency?: IdempotencyRecord,
): Promise<JobBase & K> {
  checkUrls(wanted, c);
  await refuseWhenFull(caller, c);
  await probeStream(wanted.request.stream_url, c);
  const { job, source } = newJob(wanted, caller, c);
  const slotLimit = c.limits.jobsPerCaller;
  const result = await c.jobs.create(
    { job, source, slotLimit, ...(idempotency && { idempotency }) },
    c.now(),
  );
  if (result.kind === 'slots_full') throw new MaxJobsReachedError(slotLimit);
  if (result.kind !== 'created') throw new IdempotencyConflictError();
  jobLog(c.log, job.job_id).info('Job accepted', {
    caller,
    job_type: job.job_type,
    stream_url: job.stream_url,
  });
  await startQuietly(job, c);
  return job;
}

function checkUrls({ request }: Wanted<Kind>, { urls, webhookUrls }: AcceptNeeds): void {
  urls.check(request.stream_url, ['http', 'https', 'rtsp']);
  if (request.webhook_url) webhookUrls.check(request.webhook_url, ['http', 'https']);
}

/** Spares a full caller the wait for the stream; the transaction decides. */
async function refuseWhenFull(caller: string, { jobs, limits }: AcceptNeeds): Promise<void> {
  if ((await jobs.countActive(caller)) >= limits.jobsPerCaller)
    throw new MaxJobsReachedError(limits.jobsPerCaller);
}

function newJob<K extends Kind>({ request, kind, capture }: Wanted<K>, caller: string, c: AcceptNeeds) {
  const now = c.now();
  const source: Source = { source_id: c.newId(), url: request.stream_url, ...capture };
  const base: JobBase = {
    job_id: c.newId(),
    caller,
    status: 'pending',
    created_at: now.toISOString(),
    stream_url: maskUrl(request.stream_url),
    source_id: source.source_id,
    webhook_url: request.webhook_url ?? null,
    counters: noCounts,
    watch: nothingWatched,
    sequence: 0,
    last_tick: 0,
    next: null,
    generation: 0,
    handed_over: null,
    lease_until: addSeconds(now, rules.startAllowanceSeconds).toISOString(),
    started_at: null,
    deadline: null,
    ended_at: null,
    reason: null,
    failure: null,
    published: 0,
    expires_at: null,
  };
  return { job: { ...base, ...kind }, source };
}

async function startQuietly(job: JobBase, { executions, log }: AcceptNeeds): Promise<void> {
  try {
    await executions.start({ job_id: job.job_id, generation: job.generation });
  } catch (error) {
    jobLog(log, job.job_id).warning('Execution not started yet; reconcile starts it', {
      error: String(error),
    });
  }
}
