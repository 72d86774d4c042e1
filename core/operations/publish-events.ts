import type { Collaborators } from '../collaborators.ts';
import { goesToWebhook } from '../event.ts';
import { jobLog } from '../ports/log.ts';

type Needs = Pick<Collaborators, 'jobs' | 'queue' | 'log' | 'now'>;

const pageSize = 100;

/**
 * Brings the events after `published` to the delivery queue, in order. A hint that can be lost: what fails here is
 * published by the next tick or by `reconcile`, so a failure is logged and nothing else.
 */
export async function publishEvents(jobId: string, c: Needs): Promise<void> {
  try {
    await publish(jobId, c);
  } catch (error) {
    jobLog(c.log, jobId).warning('Events not published yet; reconcile publishes them', {
      error: String(error),
    });
  }
}

async function publish(jobId: string, c: Needs): Promise<void> {
  const job = await c.jobs.find(jobId);
  if (!job?.webhook_url) return;
  let published = job.published;
  while (published < job.sequence) {
    const events = await c.jobs.events(jobId, published, pageSize);
    const last = events.at(-1);
    if (!last) return;
    for (const event of events) {
      if (goesToWebhook(event.type))
        await c.queue.send({ job_id: jobId, sequence: event.sequence, resend: 0 });
    }
    published = last.sequence;
    await c.jobs.markPublished(jobId, published);
  }
}
