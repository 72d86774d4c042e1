import type { JobEvent } from '../records/event.ts';
import type { JobStore } from '../ports/job-store.ts';
import { isTerminal } from '../records/transitions.ts';

/** Dependencies of `tailEvents`. */
export type TailDeps = {
  jobs: Pick<JobStore, 'get' | 'events'>;
  now: () => Date;
  /** Resolves after the time, or immediately if the signal aborts. Never rejects. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Time between reads of a log without new events. */
  pollMilliseconds: number;
};

/** Maximum events per read. A record has about 1 kB, because it contains no image. */
const pageEvents = 100;

/**
 * Yields the events of a job above `after`, past and new ones, and `null` after each read without new events. Ends after the
 * final event, if the job does not exist, or if the signal aborts. Reads a page after the previous one was consumed, so that
 * a slow reader buffers one page. Throws the errors of the store.
 */
export async function* tailEvents(
  jobId: string,
  after: number,
  { jobs, now, sleep, pollMilliseconds }: TailDeps,
  signal: AbortSignal,
): AsyncGenerator<JobEvent | null> {
  let last = after;
  while (!signal.aborted) {
    // The job has the newest sequence, so a poll without new events reads one item.
    const job = await jobs.get(jobId, now());
    if (!job) return;
    const page = job.sequence > last ? await jobs.events(jobId, last, pageEvents) : [];
    for (const event of page) {
      if (signal.aborted) return;
      yield event;
      last = event.sequence;
    }
    if (page.length > 0) continue;
    if (isTerminal(job.status)) return;
    yield null;
    await sleep(pollMilliseconds, signal);
  }
}
