import { useCallback, useState } from 'preact/hooks';
import { asProblem } from './problem.ts';
import type { Problem } from './problem.ts';

export type Action<Arguments extends unknown[]> = {
  /** Resolves true where it succeeded. */
  run: (...args: Arguments) => Promise<boolean>;
  busy: boolean;
  problem: Problem | undefined;
  clear: () => void;
};

/** Something a person starts: whether it is under way, and why it did not work. */
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
