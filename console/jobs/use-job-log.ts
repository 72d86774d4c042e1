import { useEffect, useState } from 'preact/hooks';
import { followEvents, isFinal, pause } from '../api/follow-events.ts';
import { asProblem, Problem } from '../api/problem.ts';
import type { JobEvent } from '../api/types.ts';
import { useSession } from '../session/session.ts';

export type JobLog = {
  events: JobEvent[];
  /** `reading`: what was there before; then live, until it is over. */
  state: 'reading' | 'live' | 'reconnecting' | 'over';
  problem?: Problem;
  /** Up to which sequence events were there when the page was opened: what is newer came while somebody watched. */
  before: number;
};

const nothing: JobLog = { events: [], state: 'reading', before: Number.MAX_SAFE_INTEGER };

const retryMs = 3_000;

/**
 * The log of a job: what was there as pages, which link to pictures instead of holding them, and what comes as an event
 * stream from there on.
 */
export function useJobLog(jobId: string): JobLog {
  const { api } = useSession();
  const [log, setLog] = useState(nothing);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    setLog(nothing);
    const change = (part: (log: JobLog) => Partial<JobLog>) =>
      setLog((before) => (signal.aborted ? before : { ...before, ...part(before) }));
    const read = async () => {
      const last = await readPages(
        (after) => api.events(jobId, after, signal),
        (events) => change((log) => ({ events: [...log.events, ...events], state: 'reading' })),
        async () => {
          change(() => ({ state: 'reconnecting' }));
          await pause(retryMs, signal);
        },
      );
      if (signal.aborted) return;
      change(() => ({ before: last }));
      await followEvents(
        api.http,
        jobId,
        last,
        {
          onEvent: (event) => change((log) => ({ events: [...log.events, event] })),
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

/** The sequence of the newest event. What may pass is tried again from the page that failed; an abort is thrown. */
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
      if (!(error instanceof Problem) || isFinal(error)) throw error;
      await beforeRetry();
    }
  }
}
