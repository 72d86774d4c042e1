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
const scheme = /^(?:https?|rtsps?):\/\/[^/]+\S*$/i;

/** Whether there is a live stream at a URL, as it is typed. The answer to an older URL is aborted. */
export function useStreamCheck(url: string): StreamCheck {
  const { api } = useSession();
  const [check, setCheck] = useState<StreamCheck>({ state: 'none' });
  useEffect(() => {
    if (!scheme.test(url)) return setCheck({ state: 'none' });
    setCheck({ state: 'checking' });
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.validateStream(url, abort.signal).then(
        (stream) => setCheck({ state: 'known', stream }),
        (error: unknown) =>
          !abort.signal.aborted && setCheck({ state: 'refused', problem: asProblem(error) }),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [url]);
  return check;
}
