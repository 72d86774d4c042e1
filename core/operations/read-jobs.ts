import type { Collaborators } from '../collaborators.ts';
import type { Delivery } from '../delivery.ts';
import { JobNotFoundError } from '../errors.ts';
import type { JobEvent } from '../event.ts';
import type { Job } from '../job.ts';
import type { JobQuery } from '../ports/job-store.ts';

type Needs = Pick<Collaborators, 'jobs' | 'deliveries' | 'now'>;

const newestTriggers = 50;

/** A job with what its log and its deliveries add to it. */
export type JobReading = { job: Job; triggers: JobEvent[]; deliveries: Delivery[] };

/** Throws `JobNotFoundError` for jobs that are gone, and for those of other callers, as if absent. */
export async function getJob(jobId: string, caller: string, c: Needs): Promise<JobReading> {
  const job = await ownJob(jobId, caller, c);
  const [triggers, deliveries] = await Promise.all([
    c.jobs.newestEvents(jobId, 'watch_triggered', newestTriggers),
    job.webhook_url ? c.deliveries.list(jobId) : [],
  ]);
  return { job, triggers, deliveries };
}

export async function listJobs(query: JobQuery, c: Needs): Promise<{ jobs: Job[]; total: number }> {
  return c.jobs.list(query, c.now());
}

export async function readEvents(jobId: string, caller: string, after: number, limit: number, c: Needs) {
  const job = await ownJob(jobId, caller, c);
  return { job, events: await c.jobs.events(jobId, after, limit) };
}

/** The evidence picture of an event, as JPEG; undefined where the event has none or it was swept. */
export async function readPicture(
  jobId: string,
  caller: string,
  sequence: number,
  c: Needs & Pick<Collaborators, 'media'>,
): Promise<Uint8Array | undefined> {
  await ownJob(jobId, caller, c);
  const event = await c.jobs.event(jobId, sequence);
  return event?.type === 'watch_triggered' ? c.media.get(event.data.frame_key) : undefined;
}

async function ownJob(jobId: string, caller: string, c: Pick<Needs, 'jobs' | 'now'>): Promise<Job> {
  const job = await c.jobs.get(jobId, c.now());
  if (job?.caller !== caller) throw new JobNotFoundError();
  return job;
}
