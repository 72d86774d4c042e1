import { waitUntilAborted } from './time-limit.ts';

/** Call under way or done, which several wait for. */
export type SharedCall<Result> = {
  result: Promise<Result>;
  /** Waits for the result. The last waiting one that aborts aborts the call. */
  join(signal: AbortSignal): Promise<Result>;
};

/**
 * Begins a call whose result is shared. An aborted wait leaves the call to the others. `onAbort` runs before the call
 * is aborted, so that nobody joins it any more.
 */
export function shareCall<Result>(
  begin: (signal: AbortSignal) => Promise<Result>,
  onAbort: () => void,
): SharedCall<Result> {
  const controller = new AbortController();
  let waiting = 0;
  const result = begin(controller.signal);
  // A failure reaches those that wait. Without them nobody handles it.
  result.catch(() => undefined);
  return {
    result,
    join: async (signal) => {
      waiting += 1;
      try {
        return await waitUntilAborted(result, signal);
      } finally {
        waiting -= 1;
        if (signal.aborted && waiting === 0) {
          onAbort();
          controller.abort();
        }
      }
    },
  };
}
