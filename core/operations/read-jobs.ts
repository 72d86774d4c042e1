import type { Collaborators } from '../collaborators.ts';
import type { Delivery } from '../delivery.ts';
import { JobNotFoundError } from '../errors.ts';
import type { JobEvent } from '../event.ts';
import type { Job } from '../job.ts';
import type { JobQuery } from '../ports/job-store.ts';

type Needs = Pick<Collaborators, 'jobs' | 'deliveries' | 'now'>;

const newestFindings = 50;

/** A job with what its log and its deliveries add to it. */
export type JobReading = {
  job: Job;
  /** The newest alerts of a monitor, or summaries of a digest, oldest first. */
  findings: JobEvent[];
  deliveries: Delivery[];
};

/** Throws `JobNotFoundError`. */
export async function getJob(jobId: string, caller: string, c: Needs): Promise<JobReading> {
  const job = await ownJob(jobId, caller, c);
  const finding = job.job_type === 'live-monitor' ? 'watch_triggered' : 'summary_generated';
  const [findings, deliveries] = await Promise.all([
    c.jobs.newestEvents(jobId, finding, newestFindings),
    job.webhook_url ? c.deliveries.list(jobId) : [],
  ]);
  return { job, findings, deliveries };
}

export async function listJobs(query: JobQuery, c: Needs): Promise<{ jobs: Job[]; total: number }> {
  return c.jobs.list(query, c.now());
}

export async function readEvents(jobId: string, caller: string, after: number, limit: number, c: Needs) {
  const job = await ownJob(jobId, caller, c);
  return { job, events: await c.jobs.events(jobId, after, limit) };
}

/** The picture of an event, as JPEG: an alert's evidence, or a summary's grid; undefined where the event has none or it was swept. */
export async function readPicture(
  jobId: string,
  caller: string,
  sequence: number,
  c: Needs & Pick<Collaborators, 'media'>,
): Promise<Uint8Array | undefined> {
  await ownJob(jobId, caller, c);
  const event = await c.jobs.event(jobId, sequence);
  const key = event && pictureKeyOf(event);
  return key === undefined ? undefined : c.media.get(key);
}

/** The newest picture of a job, as JPEG; undefined before there is one, or where it was swept. */
export async function readLastFrame(
  jobId: string,
  caller: string,
  c: Needs & Pick<Collaborators, 'media'>,
): Promise<Uint8Array | undefined> {
  const key = await lastFrameKey(jobId, caller, c);
  if (key === undefined) return undefined;
  const picture = await c.media.get(key);
  if (picture) return picture;
  // A tick that was committed in between has removed it: then there is a newer one.
  const newer = await lastFrameKey(jobId, caller, c);
  return newer === undefined || newer === key ? undefined : c.media.get(newer);
}

async function lastFrameKey(jobId: string, caller: string, c: Needs): Promise<string | undefined> {
  const { watch } = await ownJob(jobId, caller, c);
  return watch.last_frame?.key;
}

function pictureKeyOf(event: JobEvent): string | undefined {
  if (event.type === 'watch_triggered') return event.data.frame_key;
  return event.type === 'summary_generated' ? event.data.frame_grid_key : undefined;
}

/** Throws `JobNotFoundError` for jobs that are gone, and for those of other callers, as if absent. */
export async function ownJob(jobId: string, caller: string, c: Pick<Needs, 'jobs' | 'now'>): Promise<Job> {
  const job = await c.jobs.get(jobId, c.now());
  if (job?.caller !== caller) throw new JobNotFoundError();
  return job;
}
