import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { createApi, type Api } from './api/api.ts';
import { sessionOptions, type RequestOutcome } from './api/http.ts';
import { createPictures } from './api/pictures.ts';
import { asProblem, type Problem } from './api/problem.ts';
import {
  beginSession,
  followProof,
  forgetProof,
  identify,
  readProof,
  type Credential,
} from './session/begin-session.ts';
import { SessionContext, type Session } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { routeUrls, useRoute } from './shell/routes.ts';
import { Shell } from './shell/shell.tsx';

const everyMs = 2_000;

/** Reports that the service is unreachable, and polls until it responds. */
function ConnectionBanner({ reachable, onReachable }: { reachable: boolean; onReachable: () => void }) {
  useEffect(() => {
    if (reachable) return;
    const timer = setInterval(async () => {
      if (await answers()) onReachable();
    }, everyMs);
    return () => clearInterval(timer);
  }, [reachable]);
  return (
    <div role="status">
      {!reachable && (
        <p class="banner">
          Watchpost cannot be reached. This page may be outdated; it updates automatically when the connection
          is back.
        </p>
      )}
    </div>
  );
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

type Entry = { busy: boolean; problem?: Problem; notice?: string };

const ended = 'Your key is no longer accepted. Sign in with another one.';

/** Shows the sign-in, then the pages. The end of a session clears all data that its key gave access to. */
export function App() {
  const route = useRoute();
  const [session, setSession] = useState<Session>();
  // A link signs in when its button is pressed, also on a device that is signed in.
  const [entry, setEntry] = useState<Entry>({
    busy: readProof() !== undefined && route.page !== 'sign-in',
  });
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

  const onOutcome = (outcome: RequestOutcome, api?: Api) => {
    setReachable(outcome !== 'unreachable');
    // Ignores late responses for an earlier session.
    if (outcome !== 'unauthorized' || api === undefined || inUse.current !== api) return;
    forgetProof();
    end(ended);
  };

  const signOut = async (api: Api) => {
    end();
    forgetProof();
    await api.endSession().catch(() => undefined);
  };

  const signIn = async (credential: Credential) => {
    setEntry({ busy: true });
    try {
      const { me, proof } = await beginSession(credential, (outcome) => onOutcome(outcome));
      const api: Api = createApi(sessionOptions(identify(proof), (outcome) => onOutcome(outcome, api)));
      const service = await api.service();
      end();
      inUse.current = api;
      // The code of the link is used up: it leaves the address and the history.
      if ('code' in credential) location.replace(routeUrls.watches);
      setSession({ api, pictures: createPictures(api), me, service, signOut: () => void signOut(api) });
    } catch (error) {
      const problem = asProblem(error);
      if ('proof' in credential && problem.status === 401) {
        forgetProof();
        end(ended);
      } else setEntry({ busy: false, problem });
    }
  };

  useEffect(() => {
    const proof = readProof();
    if (proof !== undefined && route.page !== 'sign-in') void signIn({ proof });
    return followProof((other) => (other === undefined ? end() : void signIn({ proof: other })));
  }, []);

  const proof = readProof();
  const skipLink = () => {
    location.replace(routeUrls.watches);
    if (proof !== undefined && !session) void signIn({ proof });
  };

  // A reload shows its page without the sign-in before it.
  const resumes = entry.busy && route.page !== 'sign-in' && proof !== undefined;
  return (
    <>
      <ConnectionBanner reachable={reachable} onReachable={() => setReachable(true)} />
      {session && route.page !== 'sign-in' ? (
        <SessionContext.Provider value={session}>
          <Shell />
        </SessionContext.Provider>
      ) : (
        !resumes && (
          <SignIn
            {...entry}
            {...(route.page === 'sign-in' && { code: route.code })}
            onCredential={(credential) => void signIn(credential)}
            onSkip={session || proof !== undefined ? skipLink : undefined}
          />
        )
      )}
    </>
  );
}
