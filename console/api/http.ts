import type { ClientOptions } from '../../client/transport.ts';

/** Outcome of a request, for the connection banner and the session. */
export type RequestOutcome = 'answered' | 'unauthorized' | 'unreachable';

export const basePath = '/api';

/** Returns the options of a client of this host's API. `identity`: the headers that name the session, or begin one. */
export function sessionOptions(
  identity: Record<string, string>,
  onOutcome: (outcome: RequestOutcome) => void,
): ClientOptions {
  return {
    baseUrl: new URL(basePath, location.origin).href,
    apiKey: '',
    attempts: 1,
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      // There is no key: `identity` has what the service knows the session by.
      headers.delete('Authorization');
      for (const [name, value] of Object.entries(identity)) headers.set(name, value);
      const response = await fetch(url, {
        ...init,
        headers,
        cache: 'no-store',
        credentials: 'same-origin',
        redirect: 'error',
      }).catch((error: unknown) => {
        if (!init?.signal?.aborted) onOutcome('unreachable');
        throw error;
      });
      onOutcome(response.status === 401 ? 'unauthorized' : 'answered');
      return response;
    },
  };
}
