import { JobNotFoundError } from '../errors.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import type { Job, JobPolicy } from '../records/job.ts';
import { digestRequestSchema } from '../requests/live-digest.ts';
import { monitorRequestSchema } from '../requests/live-monitor.ts';
import type { Origin } from './accept-job.ts';
import { createDigest } from './create-digest.ts';
import { createMonitor } from './create-monitor.ts';
import type { MonitorDeps } from './create-monitor.ts';
import { requireOwnJob } from './read-jobs.ts';

/**
 * Creates a job with the request of another one, which may have ended. Its stream URL is read from the store, because callers see it masked. Its webhook
 * gets the same types of events, also if the defaults have changed. Throws `JobNotFoundError` and the errors of a creation.
 */
export async function runAgain(
  jobId: string,
  caller: string,
  deps: MonitorDeps,
  idempotency?: IdempotencyRecord,
): Promise<Job> {
  const job = await requireOwnJob(jobId, caller, deps);
  const source = await deps.runs.source(job.source_id);
  if (source === undefined) throw new JobNotFoundError(deps.limits.retentionSeconds);
  const { webhook_url, labels, config } = job;
  const request = { ...config, stream_url: source.url, webhook_url, labels };
  const origin = { again: job };
  return creations[job.policy](request, caller, deps, idempotency, origin);
}

type Create = (
  request: object,
  ...rest: [caller: string, deps: MonitorDeps, idempotency: IdempotencyRecord | undefined, origin: Origin]
) => Promise<Job>;

const creations: Record<JobPolicy, Create> = {
  monitor: (request, ...rest) => createMonitor(monitorRequestSchema.parse(request), ...rest),
  digest: (request, ...rest) => createDigest(digestRequestSchema.parse(request), ...rest),
};
