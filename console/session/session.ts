import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import type { Pictures } from '../api/pictures.ts';
import type { Key, Scope } from '../api/types.ts';

/** Somebody who signed in with a key, which lives in this page's memory and nowhere else. */
export type Session = {
  api: Api;
  pictures: Pictures;
  /** The key in use, as lists show it. */
  me: Key;
  signOut: () => void;
};

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('No session: this belongs behind the sign-in');
  return session;
}

export function mayUse({ me }: Session, scope: Scope): boolean {
  return me.scopes.includes(scope);
}
