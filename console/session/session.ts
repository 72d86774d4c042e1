import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import type { Pictures } from '../api/pictures.ts';
import type { Key, Scope, Service } from '../api/types.ts';

/** Signed-in session. The page holds no key: the browser keeps its cookie out of reach of scripts. */
export type Session = {
  api: Api;
  pictures: Pictures;
  /** Metadata of the key in use. */
  me: Key;
  /** Limits and model of the service. */
  service: Service;
  signOut: () => void;
};

/** Context with the session; undefined before the sign-in. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the session. Throws outside of the sign-in. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('No session: render this component behind the sign-in');
  return session;
}

/** Scopes that include another one, as the service defines them. */
const includedIn: { [Included in Scope]?: Scope } = { read: 'jobs', keys: 'admin' };

/** Returns true if the key in use has the scope, directly or by another one. */
export function mayUse({ me }: Pick<Session, 'me'>, scope: Scope): boolean {
  const including = includedIn[scope];
  return me.scopes.includes(scope) || (including !== undefined && me.scopes.includes(including));
}
