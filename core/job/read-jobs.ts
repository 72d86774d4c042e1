import { eventsBeforeHole } from '../event/tail-events.ts';
import { findImageKey } from '../event/present-event.ts';
import type { CoreDeps, Limits } from '../dependencies.ts';
import { withKind } from '../records/job-kind.ts';
import type { Delivery } from '../records/delivery.ts';
import { JobNotFoundError } from '../errors.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import { asJob, isJobEvent } from '../records/run.ts';
import type { JobQuery } from '../ports/runs.ts';

type Deps = Pick<CoreDeps, 'runs' | 'jobs' | 'deliveries' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

const newestFindings = 50;

/** More deliveries than a job has: one per event. */
const maxDeliveries = 20_000;

/** Job with the newest entries of its log, and the state of its deliveries. */
export type JobView = {
  job: Job;
  /** Newest alerts of a monitor, or summaries of a digest, oldest first. */
  findings: JobEvent[];
  deliveries: Delivery[];
};

/** Throws `JobNotFoundError`. */
export async function getJob(jobId: string, caller: string, deps: Deps): Promise<JobView> {
  const job = await requireOwnJob(jobId, caller, deps);
  const finding = withKind(job, (_, { findings }) => findings.type);
  const [findings, deliveries] = await Promise.all([
    deps.jobs.newestEvents(jobId, finding, newestFindings),
    job.webhook_url ? deps.deliveries.list({ run: 'job', run_id: jobId }, 0, maxDeliveries) : [],
  ]);
  return { job, findings, deliveries };
}

export async function listJobs(query: JobQuery, deps: Deps): Promise<{ jobs: Job[]; total: number }> {
  return deps.jobs.list(query, deps.now());
}

export async function readEvents(jobId: string, caller: string, after: number, limit: number, deps: Deps) {
  const job = await requireOwnJob(jobId, caller, deps);
  const events = await deps.runs.events(jobId, after, limit, deps.now());
  return { job, events: eventsBeforeHole(events.filter(isJobEvent), after, deps.now()) };
}

/**
 * Reads the image of an event, as JPEG: evidence of an alert, or frame grid of a summary. Returns undefined if the
 * event has none, or if it has expired.
 */
export async function readEventImage(
  jobId: string,
  caller: string,
  sequence: number,
  deps: Deps & Pick<CoreDeps, 'media' | 'drawBoxes'>,
  withBoxes = false,
): Promise<Uint8Array | undefined> {
  await requireOwnJob(jobId, caller, deps);
  const event = await deps.runs.event(jobId, sequence);
  const key = event && isJobEvent(event) ? findImageKey(event) : undefined;
  const image = key === undefined ? undefined : await deps.media.get(key);
  const boxes = event?.type === 'watch_triggered' ? (event.data.boxes ?? []) : [];
  if (image === undefined || !withBoxes || boxes.length === 0 || deps.drawBoxes === undefined) return image;
  return deps.drawBoxes(image, boxes, AbortSignal.timeout(drawingTimeoutMs));
}

const drawingTimeoutMs = 5000;

/** Reads the newest frame of a job, as JPEG. Returns undefined before the first, or if it has expired. */
export async function readLastFrame(
  jobId: string,
  caller: string,
  deps: Deps & Pick<CoreDeps, 'media'>,
): Promise<Uint8Array | undefined> {
  const key = await lastFrameKey(jobId, caller, deps);
  if (key === undefined) return undefined;
  const picture = await deps.media.get(key);
  if (picture) return picture;
  // A tick that was committed in between has removed it: then there is a newer one.
  const newer = await lastFrameKey(jobId, caller, deps);
  return newer === undefined || newer === key ? undefined : deps.media.get(newer);
}

async function lastFrameKey(jobId: string, caller: string, deps: Deps): Promise<string | undefined> {
  const { sight: watch } = await requireOwnJob(jobId, caller, deps);
  return watch.last_frame?.key;
}

/** Throws `JobNotFoundError` for expired jobs, and for those of other callers. */
export async function requireOwnJob(
  jobId: string,
  caller: string,
  deps: Pick<Deps, 'runs' | 'now' | 'limits'>,
): Promise<Job> {
  const job = asJob(await deps.runs.get(jobId, deps.now()));
  if (job?.caller !== caller) throw new JobNotFoundError(deps.limits.retentionSeconds);
  return job;
}
