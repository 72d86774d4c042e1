import { useEffect, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';
import type { StreamValidation } from '../api/types.ts';
import { useSession } from '../session/session.ts';

export type StreamCheck =
  | { state: 'none' }
  | { state: 'checking' }
  | { state: 'known'; stream: StreamValidation }
  | { state: 'refused'; problem: Problem };

/** Long enough that a URL being typed is not asked about letter by letter: such calls are limited. */
const pauseMs = 600;
const retryMs = 3_000;
const scheme = /^(?:https?|rtsps?):\/\/[^/]+\S*$/i;

/** Whether there is a live stream at a URL, as it is typed. The answer to an older URL is aborted. */
export function useStreamCheck(url: string): StreamCheck {
  const { api } = useSession();
  const [check, setCheck] = useState<StreamCheck>({ state: 'none' });
  useEffect(() => {
    if (!scheme.test(url)) return setCheck({ state: 'none' });
    setCheck({ state: 'checking' });
    const abort = new AbortController();
    const ask = async () => {
      try {
        const stream = await api.validateStream(url, abort.signal);
        if (abort.signal.aborted) return;
        setCheck({ state: 'known', stream });
        // That it is live is told at once; a camera may take seconds for a picture, and without one it is live all the same.
        if (stream.is_live) await showPicture();
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = asProblem(error);
        setCheck({ state: 'refused', problem });
        // The service was not reached, which says nothing of the stream.
        if (problem.status === 0) timer = setTimeout(ask, retryMs);
      }
    };
    const showPicture = async () => {
      const pictured = await api.validateStream(url, abort.signal, true).catch(() => undefined);
      if (pictured?.frame_b64 && !abort.signal.aborted) setCheck({ state: 'known', stream: pictured });
    };
    let timer = setTimeout(ask, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [url]);
  return check;
}
