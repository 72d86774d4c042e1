import type { CoreDeps } from '../dependencies.ts';
import { passesFilter } from '../records/delivery.ts';
import { jobLog } from '../ports/log.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'queue' | 'log' | 'now'>;

const pageSize = 100;

/**
 * Sends the events after `published` that the webhook receives to the delivery queue, in order. Logs a failure and never throws: the next tick or
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

async function publish(jobId: string, deps: Deps): Promise<void> {
  const job = await deps.jobs.getIncludingExpired(jobId);
  if (!job?.webhook_url) return;
  let published = job.published;
  while (published < job.sequence) {
    const events = await deps.jobs.events(jobId, published, pageSize);
    const last = events.at(-1);
    if (!last) return;
    for (const event of events) {
      if (passesFilter(job.webhook_events, event.type))
        await deps.queue.send({ job_id: jobId, sequence: event.sequence, resend: 0, attempt: 0 });
    }
    published = last.sequence;
    await deps.jobs.markPublished(jobId, published);
  }
}
