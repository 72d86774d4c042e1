import { createTransport } from '../../client/transport.ts';
import { sessionOptions, type RequestOutcome } from '../api/http.ts';
import type { Key } from '../api/types.ts';

/** Beginning of a session: a key, the code of a link, or the proof of a session that this browser keeps. */
export type Credential = { key: string } | { code: string } | { proof: string };

const storageName = 'watchpost-session';

/** Returns the headers by which the service knows the session of this page. */
export const identify = (proof: string) => ({ 'Watchpost-Session': proof });

/** Begins or renews a session. Returns its key and its proof, which is stored for later tabs. Throws `Problem`. */
export async function beginSession(
  credential: Credential,
  onOutcome: (outcome: RequestOutcome) => void,
): Promise<{ me: Key; proof: string }> {
  const { send } = createTransport(sessionOptions(toHeaders(credential), onOutcome));
  const headers = { 'Watchpost-Console': location.origin };
  const { proof, ...me } = await send(
    { method: 'POST', path: '/session', headers, repeatable: false },
    // The response gets its type here.
    (response): Promise<Key & { proof: string }> => response.json(),
  );
  storeProof(proof);
  return { me, proof };
}

function toHeaders(credential: Credential): Record<string, string> {
  if ('key' in credential) return { Authorization: `Bearer ${credential.key}` };
  return 'code' in credential ? { 'Watchpost-Sign-In': credential.code } : identify(credential.proof);
}

/** Returns the proof of the session that this browser keeps. */
export function readProof(): string | undefined {
  return withStorage((storage) => storage.getItem(storageName)) ?? undefined;
}

function storeProof(proof: string): void {
  withStorage((storage) => storage.setItem(storageName, proof));
}

export function forgetProof(): void {
  withStorage((storage) => storage.removeItem(storageName));
}

/** Calls `onProof` when another tab signs in, and without a proof when it signs out. Returns the end of that. */
export function followProof(onProof: (proof: string | undefined) => void): () => void {
  const follow = ({ key, newValue }: StorageEvent) => {
    if (key === storageName) onProof(newValue ?? undefined);
  };
  addEventListener('storage', follow);
  return () => removeEventListener('storage', follow);
}

/** A browser can refuse storage: the session then ends with the page. */
function withStorage<Value>(use: (storage: Storage) => Value): Value | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}
