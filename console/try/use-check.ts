import { useEffect, useRef, useState } from 'preact/hooks';
import type { MeteredCheckResult } from '../api/check-result.ts';
import { asProblem } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';
import type { InputMode, CheckRequest } from '../api/types.ts';
import { useSession } from '../session/session.ts';

/** State of the single check. `since` is in epoch milliseconds. */
export type CheckState =
  | { state: 'idle' }
  | { state: 'looking'; since: number; mode: InputMode }
  | { state: 'seen'; answer: MeteredCheckResult; request: CheckRequest }
  | { state: 'failed'; problem: Problem };

/** Typical latency before the first check, in milliseconds (measured with the built-in model and a local model server). */
const firstGuess: Record<InputMode, number> = { frames: 2_500, clip: 5_000, hybrid: 6_000 };

/** Runs one check at a time and tracks the typical latency per mode. A new check aborts the previous one. */
export function useCheck() {
  const { api } = useSession();
  const [look, setLook] = useState<CheckState>({ state: 'idle' });
  const abort = useRef<AbortController>(undefined);
  const typical = useRef(firstGuess);

  useEffect(() => () => abort.current?.abort(), []);

  const run = async (request: CheckRequest) => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    setLook({ state: 'looking', since: Date.now(), mode: request.input_mode });
    try {
      const answer = await api.look(request, controller.signal);
      typical.current = { ...typical.current, [request.input_mode]: Math.max(answer.latency_ms, 300) };
      if (!controller.signal.aborted) setLook({ state: 'seen', answer, request });
    } catch (error) {
      if (!controller.signal.aborted) setLook({ state: 'failed', problem: asProblem(error) });
    }
  };
  const stop = () => {
    abort.current?.abort();
    setLook({ state: 'idle' });
  };
  return { look, run, stop, typicalMs: (mode: InputMode) => typical.current[mode] };
}
