import type { JobEvent } from '../records/event.ts';
import type { JobStore } from '../ports/job-store.ts';
import { isTerminal } from '../records/transitions.ts';

export type TailDeps = {
  jobs: Pick<JobStore, 'get' | 'events'>;
  now: () => Date;
  /** Resolves after that time, and at once when the signal aborts; never rejects. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  pollMilliseconds: number;
};

/** Records without their pictures: about a kilobyte each. */
const pageEvents = 100;

/**
 * The events of a job above `after`, those to come included, and null after each look that found nothing new. Ends when the
 * log is over and read, when the job is gone, or when the signal aborts. Reads the next page when the last one was taken, so
 * a slow reader holds one page and nothing else. Throws what the store throws.
 */
export async function* tailEvents(
  jobId: string,
  after: number,
  { jobs, now, sleep, pollMilliseconds }: TailDeps,
  signal: AbortSignal,
): AsyncGenerator<JobEvent | null> {
  let last = after;
  while (!signal.aborted) {
    // The job says how far its log goes: a look that finds nothing is the read of one item.
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
