import { JobNotFoundError } from '../errors.ts';
import type { Job } from '../records/job.ts';
import { digestRequestSchema } from '../requests/live-digest.ts';
import { monitorRequestSchema } from '../requests/live-monitor.ts';
import { createDigest } from './create-digest.ts';
import { createMonitor } from './create-monitor.ts';
import type { MonitorDeps } from './create-monitor.ts';
import { requireOwnJob } from './read-jobs.ts';

/**
 * Creates a job with the request of another one, which may have ended. Its stream URL is read from the store, because callers see it masked.
 * Throws `JobNotFoundError` and the errors of a creation.
 */
export async function runAgain(jobId: string, caller: string, deps: MonitorDeps): Promise<Job> {
  const job = await requireOwnJob(jobId, caller, deps);
  const source = await deps.jobs.source(job.source_id);
  if (source === undefined) throw new JobNotFoundError(deps.limits.retentionSeconds);
  const { webhook_url, webhook_events, labels, config } = job;
  const request = { ...config, stream_url: source.url, webhook_url, webhook_events, labels };
  return job.job_type === 'live-monitor'
    ? createMonitor(monitorRequestSchema.parse(request), caller, deps)
    : createDigest(digestRequestSchema.parse(request), caller, deps);
}
