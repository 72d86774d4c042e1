import { toProblem, unreachable } from './problem.ts';

/** Query parameters; undefined and empty values are omitted. */
export type Query = Record<string, string | number | undefined>;
/** Request of the API. Default method: GET. */
export type Call = {
  path: string;
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

export type CallOptions = Omit<Call, 'path'>;

/** Outcome of a request, for the connection banner and the session. */
export type RequestOutcome = 'answered' | 'unauthorized' | 'unreachable';

/** HTTP client of the API for one session. */
export type Http = {
  /** Returns the parsed body of a successful response. Throws `Problem`. */
  json<T>(path: string, options?: CallOptions): Promise<T>;
  /** Returns a successful response. Throws `Problem`. */
  send(path: string, options?: CallOptions): Promise<Response>;
  /** Returns the response for any status. Throws `Problem` without a response. */
  open(call: Call): Promise<Response>;
};

/** Base path of the API on this host. */
export const basePath = '/api';

/** Creates the HTTP client of this host's API. `identity`: the headers that name the session, or begin one. */
export function createHttp(
  identity: Record<string, string>,
  onOutcome: (outcome: RequestOutcome) => void,
): Http {
  const open = async (call: Call): Promise<Response> => {
    const response = await fetch(`${basePath}${call.path}${queryText(call.query)}`, {
      method: call.method ?? 'GET',
      headers: {
        ...identity,
        ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal ? { signal: call.signal } : {}),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    }).catch((error: unknown) => {
      if (call.signal?.aborted) throw error;
      onOutcome('unreachable');
      throw unreachable(error);
    });
    onOutcome(response.status === 401 ? 'unauthorized' : 'answered');
    return response;
  };
  const send = async (path: string, options: CallOptions = {}): Promise<Response> => {
    const response = await open({ path, ...options });
    if (!response.ok) throw await toProblem(response);
    return response;
  };
  return {
    open,
    send,
    json: async (path, options) => {
      const response = await send(path, options);
      const text = await response.text().catch((error: unknown) => {
        throw options?.signal?.aborted ? error : unreachable(error);
      });
      // Responses get their type only here. The types are generated from the OpenAPI document.
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
