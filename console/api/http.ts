import { problemOf, unreachable } from './problem.ts';

export type Query = Record<string, string | number | undefined>;
export type Call = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** What became of each request, for the banner and for the session. */
export type Outcome = 'answered' | 'unauthorized' | 'unreachable';

export type Http = {
  /** The answer's JSON. Throws `Problem`. */
  json<T>(path: string, call?: Call): Promise<T>;
  /** The answer itself, where it was a good one. Throws `Problem`. */
  send(path: string, call?: Call): Promise<Response>;
};

export const basePath = '/api';

/** The API of this host with a key, which goes into the header and nowhere else. */
export function createHttp(key: string, onOutcome: (outcome: Outcome) => void): Http {
  const send = async (path: string, call: Call = {}): Promise<Response> => {
    const response = await fetch(`${basePath}${path}${queryText(call.query)}`, {
      method: call.method ?? 'GET',
      headers: {
        Authorization: `Bearer ${key}`,
        ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal ? { signal: call.signal } : {}),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    }).catch((error: unknown) => {
      if (call.signal?.aborted) throw error;
      onOutcome('unreachable');
      throw unreachable(error);
    });
    onOutcome(response.status === 401 ? 'unauthorized' : 'answered');
    if (!response.ok) throw await problemOf(response);
    return response;
  };
  return {
    send,
    json: async (path, call) => {
      const response = await send(path, call);
      const text = await response.text().catch((error: unknown) => {
        throw call?.signal?.aborted ? error : unreachable(error);
      });
      // The one place where an answer gets its type; test/console holds the types against the schemas of the API.
      // oxlint-disable-next-line typescript/no-unsafe-return
      return JSON.parse(text);
    },
  };
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
