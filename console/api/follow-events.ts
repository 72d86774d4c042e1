import { follow } from '../../client/follow.ts';
import type { StreamedEvent } from '../../client/openapi-types.ts';
import type { Transport } from '../../client/transport.ts';
import { asProblem, type Problem } from './problem.ts';

export type Following = {
  onEvent: (event: StreamedEvent) => void;
  /** Connection state: open, waiting for the next attempt, or ended. */
  onState: (state: 'live' | 'reconnecting' | 'over') => void;
  /** Permanent failure: no further attempt follows. */
  onProblem: (problem: Problem) => void;
};

/**
 * Follows the events of a job after sequence `from` until its final event, with the client's `follow`. Reconnects
 * without a limit of attempts. Not `EventSource`, which cannot send `Authorization`.
 */
export async function followEvents(
  http: Pick<Transport, 'open'>,
  jobId: string,
  from: number,
  { onEvent, onState, onProblem }: Following,
  signal: AbortSignal,
  wait: typeof pause = pause,
): Promise<void> {
  const transport: Pick<Transport, 'open' | 'sleep'> = {
    open: async (call) => {
      const response = await http.open(call);
      if (response.status === 200) onState('live');
      return response;
    },
    sleep: async (milliseconds) => {
      onState('reconnecting');
      await wait(milliseconds, signal);
      signal.throwIfAborted();
    },
  };
  try {
    const events = follow(jobId, { after: from, signal, maxFailures: Infinity }, transport);
    for await (const event of events) onEvent(event);
    onState('over');
  } catch (error) {
    if (!signal.aborted) onProblem(asProblem(error));
  }
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
