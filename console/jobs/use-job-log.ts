import { useEffect, useState } from 'preact/hooks';
import { followEvents, isFinal, pause } from '../api/follow-events.ts';
import { asProblem, type Problem } from '../api/problem.ts';
import type { JobEvent } from '../api/types.ts';
import { useSession } from '../session/session.ts';

/** Event log of a job and the state of its connection. */
export type JobLog = {
  events: JobEvent[];
  /** `reading` while past events load, then `live` until the final event. */
  state: 'reading' | 'live' | 'reconnecting' | 'over';
  problem?: Problem;
  /** Newest sequence when the page opened; later events arrived while it was open. */
  before: number;
};

const nothing: JobLog = { events: [], state: 'reading', before: Number.MAX_SAFE_INTEGER };

const retryMs = 3_000;

/**
 * Reads the event log of a job: past events as pages, which link to images instead of containing them, then new events
 * as an event stream.
 */
export function useJobLog(jobId: string): JobLog {
  const { api } = useSession();
  const [log, setLog] = useState(nothing);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    setLog(nothing);
    const change = (part: (before: JobLog) => Partial<JobLog>) =>
      setLog((before) => (signal.aborted ? before : { ...before, ...part(before) }));
    const read = async () => {
      const last = await readPages(
        (after) => api.events(jobId, after, signal),
        (events) => change((before) => ({ events: [...before.events, ...events], state: 'reading' })),
        async () => {
          change(() => ({ state: 'reconnecting' }));
          await pause(retryMs, signal);
        },
      );
      if (signal.aborted) return;
      change(() => ({ before: last }));
      await followEvents(
        api.transport,
        jobId,
        last,
        {
          onEvent: (event) => change((before) => ({ events: [...before.events, event] })),
          onState: (state) => change(() => ({ state })),
          onProblem: (problem) => change(() => ({ problem, state: 'over' })),
        },
        signal,
      );
    };
    read().catch((error: unknown) => change(() => ({ problem: asProblem(error), state: 'over' })));
    return () => abort.abort();
  }, [jobId]);
  return log;
}

/** Reads all pages and returns the newest sequence. Retries a page after a transient error; throws on abort. */
async function readPages(
  page: (after: number) => Promise<{ events: JobEvent[]; next_after: number; has_more: boolean }>,
  onEvents: (events: JobEvent[]) => void,
  beforeRetry: () => Promise<void>,
): Promise<number> {
  let after = 0;
  for (;;) {
    try {
      const { events, next_after: next, has_more: hasMore } = await page(after);
      onEvents(events);
      after = next;
      if (!hasMore) return after;
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code === 'CONSOLE_ERROR' || isFinal(problem)) throw error;
      await beforeRetry();
    }
  }
}
