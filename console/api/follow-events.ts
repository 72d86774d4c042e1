import { createParser } from 'eventsource-parser';
import type { Http } from './http.ts';
import { asProblem } from './problem.ts';
import type { Problem } from './problem.ts';
import type { JobEvent } from './types.ts';

/** Callbacks and timing of `followEvents`. */
export type Following = {
  onEvent: (event: JobEvent) => void;
  /** Connection state: open, waiting for the next attempt, or ended. */
  onState: (state: 'live' | 'reconnecting' | 'over') => void;
  /** Permanent failure: no further attempt follows. */
  onProblem: (problem: Problem) => void;
  /** Delay before the first reconnection, in milliseconds; doubles up to 15 s. */
  firstWaitMs?: number;
  /** Silence after which a connection counts as dead, in milliseconds. The service sends a comment every 15 s. */
  silentAfterMs?: number;
};

const maxWaitMs = 15_000;

/**
 * Follows the events of a job after sequence `from` until its final event. Resumes a broken stream after the last event.
 * Not `EventSource`, which cannot send `Authorization`.
 */
export async function followEvents(
  http: Http,
  jobId: string,
  from: number,
  { onEvent, onState, onProblem, firstWaitMs = 1_000, silentAfterMs = 45_000 }: Following,
  signal: AbortSignal,
): Promise<void> {
  let last = from;
  let waitMs = firstWaitMs;
  let ended = false;
  const take = (event: JobEvent) => {
    last = event.data.sequence;
    ended = event.type === 'job_stopped';
    waitMs = firstWaitMs;
    onEvent(event);
  };
  while (!signal.aborted) {
    try {
      const response = await open(http, jobId, last, signal);
      if (response.status === 204) return onState('over');
      onState('live');
      await read(response, take, silentAfterMs);
      if (ended) return onState('over');
    } catch (error) {
      if (signal.aborted) return;
      const problem = asProblem(error);
      if (isFinal(problem)) return onProblem(problem);
    }
    if (signal.aborted) return;
    onState('reconnecting');
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, maxWaitMs);
  }
}

function open(http: Http, jobId: string, last: number, signal: AbortSignal): Promise<Response> {
  return http.send(`/jobs/${jobId}/events`, {
    headers: { Accept: 'text/event-stream', ...(last > 0 ? { 'Last-Event-ID': String(last) } : {}) },
    signal,
  });
}

/** Reads until the service closes the stream or the timeout. Silence is the only sign of a connection lost during sleep. */
async function read(
  response: Response,
  take: (event: JobEvent) => void,
  silentAfterMs: number,
): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => take(parseEvent(data)) });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  for (;;) {
    const timer = setTimeout(() => void reader.cancel(), silentAfterMs);
    const part = await reader.read().finally(() => clearTimeout(timer));
    if (part.done) return;
    parser.feed(part.value);
  }
}

function parseEvent(data: string): JobEvent {
  // oxlint-disable-next-line typescript/no-unsafe-return
  return JSON.parse(data);
}

/** Returns true if a retry cannot succeed: a missing job or a rejected key. Network and server errors are transient. */
export function isFinal({ status }: Problem): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Waits; resolves early if `signal` aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
