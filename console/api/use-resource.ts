import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, type Problem } from './problem.ts';

export type Resource<T> = {
  /** Newest response; kept while a newer one loads or fails. */
  value: T | undefined;
  problem: Problem | undefined;
  reload: () => void;
};

/** Delay before an unreachable service is requested again, in milliseconds. */
const retryMs = 3_000;

/**
 * Loads when `deps` change, and again every `everyMs` while the page is visible. Aborts an outdated request, so that a
 * late response never replaces a newer one.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: unknown[],
  everyMs?: number,
): Resource<T> {
  const [state, setState] = useState<{ value?: T; problem?: Problem }>({});
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => setState({}), deps);

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (afterMs = everyMs) => {
      if (afterMs !== undefined && !abort.signal.aborted) timer = setTimeout(run, afterMs);
    };
    const run = async () => {
      // A hidden page loads nothing; a resource that loads once waits until the page is visible.
      if (document.hidden) return again(everyMs ?? retryMs);
      try {
        const value = await latest.current(abort.signal);
        if (!abort.signal.aborted) setState({ value });
        again();
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = asProblem(error);
        setState((before) => ({ ...before, problem }));
        again(problem.status === 0 ? retryMs : everyMs);
      }
    };
    void run();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...deps, round, everyMs]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { value: state.value, problem: state.problem, reload };
}
