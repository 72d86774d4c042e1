import { useEffect, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';
import type { StreamValidation } from '../api/types.ts';
import { useSession } from '../session/session.ts';

/** State of the stream validation; `none` without a complete URL. */
export type StreamValidationState =
  | { state: 'none' }
  | { state: 'checking' }
  | { state: 'known'; stream: StreamValidation }
  | { state: 'refused'; problem: Problem };

/** Delay after the last keystroke, in milliseconds: validation is rate-limited. */
const pauseMs = 600;
const retryMs = 3_000;
const scheme = /^(?:https?|rtsps?|rtsp\+https?):\/\/[^/\s]\S*$/i;

/** Validates the URL while it is typed. Aborts the request for an older URL. */
export function useStreamValidation(url: string): StreamValidationState {
  const { api } = useSession();
  const [check, setCheck] = useState<StreamValidationState>({ state: 'none' });
  useEffect(() => {
    if (!scheme.test(url)) return setCheck({ state: 'none' });
    setCheck({ state: 'checking' });
    const abort = new AbortController();
    const validate = async () => {
      try {
        const stream = await api.validateStream(url, abort.signal);
        if (abort.signal.aborted) return;
        setCheck({ state: 'known', stream });
        // Shows the result before the frame: a camera may take seconds to deliver a frame, or deliver none.
        if (stream.is_live) await addFrame();
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = asProblem(error);
        setCheck({ state: 'refused', problem });
        // An unreachable service is retried: the state of the stream is unknown.
        if (problem.status === 0) timer = setTimeout(validate, retryMs);
      }
    };
    const addFrame = async () => {
      const validated = await api.validateStream(url, abort.signal, true).catch(() => undefined);
      if (validated?.frame_b64 && !abort.signal.aborted) setCheck({ state: 'known', stream: validated });
    };
    let timer = setTimeout(validate, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [url]);
  return check;
}
