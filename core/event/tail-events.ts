import type { JobEvent } from '../records/event.ts';
import type { RunStore } from '../ports/runs.ts';
import type { LogSignals } from '../ports/event-sessions.ts';
import { isTerminal } from '../records/job.ts';
import { asJob, isJobEvent } from '../records/run.ts';
import { addSeconds, secondsUntil } from '../time.ts';

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

/** Age of an event, in seconds, from which a hole before it stays: a commit is visible to all readers long before. */
const holeSeconds = 30;

/**
 * Returns the events that follow `after` without a hole. Two commits can become visible in another order than that of
 * their sequences; a reader that crossed a hole would never see the event in it, so it stops and reads again. Holes
 * that stay are crossed: a restore skips sequences, and expired events leave the log.
 */
export function eventsBeforeHole<LogEvent extends { sequence: number; timestamp: string }>(
  events: readonly LogEvent[],
  after: number,
  now: Date,
): LogEvent[] {
  const end = events.findIndex(
    ({ sequence, timestamp }, index) =>
      sequence !== (events[index - 1]?.sequence ?? after) + 1 && mayClose(timestamp, now),
  );
  return end === -1 ? [...events] : events.slice(0, end);
}

/** Another writer has a slightly different clock. A time further ahead is from before the clock was set back. */
function mayClose(timestamp: string, now: Date): boolean {
  return secondsUntil(addSeconds(new Date(timestamp), holeSeconds), now, 2 * holeSeconds) > 0;
}
