import { useCallback, useState } from 'preact/hooks';
import { asProblem, type Problem } from './problem.ts';

/** State and trigger of an action. */
export type Action<Arguments extends unknown[]> = {
  /** Resolves to true on success, false on failure; never rejects. */
  run: (...args: Arguments) => Promise<boolean>;
  busy: boolean;
  problem: Problem | undefined;
  clear: () => void;
};

/** Tracks an action that a person starts: whether it runs, and the `Problem` if it failed. */
export function useAction<Arguments extends unknown[]>(
  act: (...args: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ busy: boolean; problem?: Problem }>({ busy: false });
  const run = async (...args: Arguments) => {
    setState({ busy: true });
    try {
      await act(...args);
      setState({ busy: false });
      return true;
    } catch (error) {
      setState({ busy: false, problem: asProblem(error) });
      return false;
    }
  };
  const clear = useCallback(() => setState({ busy: false }), []);
  return { run, busy: state.busy, problem: state.problem, clear };
}
