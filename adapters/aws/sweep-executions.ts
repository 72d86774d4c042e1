import type { Executions } from '../../core/ports/executions.ts';
import { executionName } from '../../core/records/workflow.ts';

/**
 * Returns executions whose status is that of a list of running ones: a name that it lacks is 'not_running'. The list
 * lags by seconds, so a job is lost only if a start confirms that its execution has ended.
 */
export function useListedStatus(executions: Executions, running: ReadonlySet<string>): Executions {
  return {
    ...executions,
    status: async (input) => (running.has(executionName(input)) ? 'running' : 'not_running'),
  };
}

export type PaceOptions = {
  /** Starts that need no wait. */
  burst: number;
  startsPerSecond: number;
  /** Monotonic time, in milliseconds. */
  elapsedMs: () => number;
  sleep: (milliseconds: number) => Promise<void>;
};

/** Returns executions whose starts wait so that they stay below a rate, by a token bucket as that of the quota. */
export function paceStarts(executions: Executions, options: PaceOptions): Executions {
  const { burst, startsPerSecond, elapsedMs, sleep } = options;
  const msPerStart = 1000 / startsPerSecond;
  /** Time at which the bucket is full. */
  let fullAtMs = elapsedMs();
  return {
    ...executions,
    start: async (input) => {
      const now = elapsedMs();
      fullAtMs = Math.max(fullAtMs, now) + msPerStart;
      const waitMs = fullAtMs - now - burst * msPerStart;
      if (waitMs > 0) await sleep(waitMs);
      return executions.start(input);
    },
  };
}
