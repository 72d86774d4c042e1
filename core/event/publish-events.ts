import type { CoreDeps } from '../dependencies.ts';
import { isDeliveredByWebhook, passesFilter } from '../records/delivery.ts';
import { jobLog } from '../ports/log.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'queue' | 'log' | 'now'>;

const pageSize = 100;

/**
 * Sends the events after `published` that webhook or event bus receive to the delivery queue, in order. Logs a failure and never throws: the next tick or
 * `reconcile` publishes the events.
 */
export async function publishEvents(jobId: string, deps: Deps): Promise<void> {
  try {
    await publish(jobId, deps);
  } catch (error) {
    jobLog(deps.log, jobId).warning('Events not published yet; reconcile publishes them', {
      error: String(error),
    });
  }
}

/** Publishes the events of a job that has a receiver. Others are not read again. */
export async function publishToReceivers(
  job: Pick<Job, 'job_id' | 'webhook_url'>,
  deps: Deps,
): Promise<void> {
  if (hasReceiver(job, deps)) await publishEvents(job.job_id, deps);
}

function hasReceiver(
  { webhook_url: url }: Pick<Job, 'webhook_url'>,
  { queue }: Pick<Deps, 'queue'>,
): boolean {
  return url !== null || queue.hasBus === true;
}

async function publish(jobId: string, deps: Deps): Promise<void> {
  const job = await deps.jobs.getIncludingExpired(jobId);
  if (!job || !hasReceiver(job, deps)) return;
  let published = job.published;
  while (published < job.sequence) {
    const events = await deps.jobs.events(jobId, published, pageSize);
    const last = events.at(-1);
    if (!last) return;
    for (const event of events) await send(event, job, deps);
    published = last.sequence;
    await deps.jobs.markPublished(jobId, published);
  }
}

/** The filter of the webhook does not apply to the bus, whose rules choose events. */
async function send({ type, sequence }: JobEvent, job: Job, { queue }: Deps): Promise<void> {
  const { job_id, webhook_url: url, webhook_events: filter } = job;
  if (url !== null && passesFilter(filter, type))
    await queue.send({ job_id, sequence, resend: 0, attempt: 0 });
  if (queue.hasBus && isDeliveredByWebhook(type))
    await queue.send({ bus: 'job', id: job_id, sequence, alert_id: null });
}
