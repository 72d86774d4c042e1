import { JobNotFoundError } from '../errors.ts';
import { withDecisions } from '../policies/job-policies.ts';
import type { PlanDeps } from '../policies/job/plan.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import type { Job } from '../records/job.ts';
import { acceptJob, type AcceptDeps, type Origin } from './accept-job.ts';
import { requireOwnJob } from './read-jobs.ts';

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
