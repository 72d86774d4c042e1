import type { JobEvent } from '../records/event.ts';
import type { RunStore } from '../ports/runs.ts';
import { eventsBeforeHole } from './before-hole.ts';
import type { LogSignals } from '../ports/event-sessions.ts';
import { isTerminal } from '../records/job.ts';
import { asJob, isJobEvent } from '../records/run.ts';

export type TailDeps = {
  runs: Pick<RunStore, 'get' | 'events'>;
  now: () => Date;
  /** Wakes a reader that has all events. */
  signals: LogSignals;
};

/** Maximum events per read. A record has about 1 kB, because it contains no image. */
const pageEvents = 100;

/**
 * Yields the events of a job above `after`, past and new ones, and `null` after each read without new events. Ends
 * after the final event, if the job does not exist, or if the signal aborts. Reads a page after the previous one was
 * consumed, so that a slow reader buffers one page. Throws the errors of the store.
 */
export async function* tailEvents(
  jobId: string,
  after: number,
  { runs, now, signals }: TailDeps,
  signal: AbortSignal,
): AsyncGenerator<JobEvent | null> {
  let last = after;
  // Before the first read, so that no commit falls between a read and the wait.
  const log = signals.watch(jobId);
  try {
    while (!signal.aborted) {
      // The job has the newest sequence, so a read without new events reads one item.
      const job = asJob(await runs.get(jobId, now()));
      if (!job) return;
      const read = job.sequence > last ? await runs.events(jobId, last, pageEvents, now()) : [];
      const page = eventsBeforeHole(read.filter(isJobEvent), last, now());
      for (const event of page) {
        if (signal.aborted) return;
        yield event;
        last = event.sequence;
      }
      if (page.length > 0) continue;
      if (isTerminal(job.status) && read.length === 0) return;
      yield null;
      await log.changed(signal);
    }
  } finally {
    log.end();
  }
}
