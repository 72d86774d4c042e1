import type { CoreDeps } from '../dependencies.ts';
import { eventsBeforeHole } from './before-hole.ts';
import type { JobStore } from '../ports/job-store.ts';
import { runLog } from '../ports/log.ts';
import { isDeliveredByWebhook, passesFilter, webhookDestination } from '../records/delivery.ts';
import type { QueueMessage, RunKey } from '../records/delivery.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { WatchEvent } from '../records/watch-event.ts';

export type PublishDeps = Pick<CoreDeps, 'queue' | 'log' | 'now'>;
type JobDeps = PublishDeps & { jobs: Pick<JobStore, 'getIncludingExpired' | 'events' | 'markPublished'> };

/** Log of a run with its position of publishing. */
type Log<LogEvent> = {
  sequence: number;
  published: number;
  /** False if nobody receives the events. */
  hasReceivers: boolean;
  read(after: number): Promise<LogEvent[]>;
  markPublished(sequence: number): Promise<void>;
  /** Returns one message per receiver that wants the event. */
  toMessages(event: LogEvent): Promise<QueueMessage[]>;
  /** Called when all messages of an event are in the queue. */
  afterMessages?(event: LogEvent): Promise<void>;
};

/** Events per read of a log. */
export const pageSize = 100;

/** Publishes the events of a job. Logs a failure and never throws: the next commit or `reconcile` publishes them. */
export function publishEvents(jobId: string, deps: JobDeps): Promise<void> {
  return publishQuietly({ run: 'job', run_id: jobId }, deps, async () => {
    const job = await deps.jobs.getIncludingExpired(jobId);
    return (
      job && {
        ...job,
        hasReceivers: hasReceivers(job, deps),
        read: (after) => deps.jobs.events(jobId, after, pageSize),
        markPublished: (sequence) => deps.jobs.markPublished(jobId, sequence),
        toMessages: async (event: JobEvent) => toJobMessages(event, job, deps),
      }
    );
  });
}

/** Publishes after a commit of a job, if somebody receives its events. A log of checks is crossed page by page, so that an alert does not wait for it. */
export async function publishCommit(
  job: Pick<Job, 'run_id' | 'webhook_url' | 'sequence' | 'published'>,
  events: readonly JobEvent[],
  deps: JobDeps,
): Promise<void> {
  const isNews = events.some(({ type }) => isDeliveredByWebhook(type));
  if (hasReceivers(job, deps) && (isNews || job.sequence - job.published >= pageSize))
    await publishEvents(job.run_id, deps);
}

/** Publishes a log. Logs a failure and never throws. */
export async function publishQuietly<LogEvent extends JobEvent | WatchEvent>(
  key: RunKey,
  deps: PublishDeps,
  open: () => Promise<Log<LogEvent> | undefined>,
): Promise<void> {
  try {
    const log = await open();
    if (log) await publish(log, deps);
  } catch (error) {
    runLog(deps.log, key).warning('Events not published yet; reconcile publishes them', {
      error: String(error),
    });
  }
}

/** Sends the events after `published` to the delivery queue, in order. */
async function publish<LogEvent extends JobEvent | WatchEvent>(
  log: Log<LogEvent>,
  { queue, now }: PublishDeps,
): Promise<void> {
  let { published } = log;
  if (!log.hasReceivers && published < log.sequence) await log.markPublished(log.sequence);
  while (log.hasReceivers && published < log.sequence) {
    const events = eventsBeforeHole(await log.read(published), published, now());
    const last = events.at(-1);
    if (!last) return;
    for (const event of events) {
      for (const message of await log.toMessages(event)) await queue.send(message);
      await log.afterMessages?.(event);
    }
    published = last.sequence;
    await log.markPublished(published);
  }
}

function hasReceivers({ webhook_url: url }: Pick<Job, 'webhook_url'>, { queue }: PublishDeps): boolean {
  return url !== null || queue.hasBus === true;
}

/** The filter of the webhook does not apply to the bus, whose rules choose events. First attempts keep the order of the log: all have one subject. */
function toJobMessages({ type, sequence }: JobEvent, job: Job, { queue }: PublishDeps): QueueMessage[] {
  const { run_id: id, webhook_url: url, webhook_events: filter } = job;
  const subject = 'log';
  const message = { run: 'job', run_id: id, sequence, destination_id: webhookDestination, subject } as const;
  return [
    ...(url !== null && passesFilter(filter, type) ? [{ ...message, resend: 0, attempt: 0 }] : []),
    ...(queue.hasBus && isDeliveredByWebhook(type) ? [{ bus: 'job', id, sequence, subject } as const] : []),
  ];
}
