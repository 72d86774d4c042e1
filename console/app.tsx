import { useCallback, useRef, useState } from 'preact/hooks';
import { createApi } from './api/api.ts';
import type { Api } from './api/api.ts';
import { createHttp } from './api/http.ts';
import type { RequestOutcome } from './api/http.ts';
import { createPictures } from './api/pictures.ts';
import { asProblem } from './api/problem.ts';
import type { Problem } from './api/problem.ts';
import { SessionContext } from './session/session.ts';
import type { Session } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { ConnectionBanner } from './shell/connection-banner.tsx';
import { Shell } from './shell/shell.tsx';

/** Shows the sign-in, then the pages. The end of a session clears all data that its key gave access to. */
export function App() {
  const [session, setSession] = useState<Session>();
  const [entry, setEntry] = useState<{ busy: boolean; problem?: Problem; notice?: string }>({ busy: false });
  const [reachable, setReachable] = useState(true);

  const inUse = useRef<Api>(undefined);

  const end = useCallback((notice?: string) => {
    inUse.current = undefined;
    setSession((before) => {
      before?.pictures.clear();
      return undefined;
    });
    setEntry({ busy: false, ...(notice === undefined ? {} : { notice }) });
  }, []);

  const onOutcome = (outcome: RequestOutcome, api: Api) => {
    setReachable(outcome !== 'unreachable');
    // Ignores late responses for the key of an earlier session.
    if (outcome === 'unauthorized' && inUse.current === api)
      end('Your key is no longer accepted. Sign in with another one.');
  };

  const signIn = async (key: string) => {
    setEntry({ busy: true });
    const api: Api = createApi(createHttp(key, (outcome) => onOutcome(outcome, api)));
    try {
      const [me, service] = await Promise.all([api.me(), api.service()]);
      inUse.current = api;
      setSession({ api, pictures: createPictures(api), me, service, signOut: () => end() });
      setEntry({ busy: false });
    } catch (error) {
      setEntry({ busy: false, problem: asProblem(error) });
    }
  };

  return (
    <>
      <ConnectionBanner reachable={reachable} onReachable={() => setReachable(true)} />
      {session ? (
        <SessionContext.Provider value={session}>
          <Shell />
        </SessionContext.Provider>
      ) : (
        <SignIn onKey={(key) => void signIn(key)} {...entry} />
      )}
    </>
  );
}
