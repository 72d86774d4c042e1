import { ConnectionError, errorOf, WatchpostError } from './errors.ts';

export type ClientOptions = {
  /** Where the API is, with its base path: `https://HOST/api`. */
  baseUrl: string;
  /** An API key, `wp_…`. Keep it on a server, never in a page. */
  apiKey: string;
  /** How often a request that may be repeated is tried in all. Default 3; 1 never tries again. */
  attempts?: number;
  /** How a request is sent. Default: the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Resolves after that time; rejects when `signal` aborts. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
};

export type Call = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  headers?: Record<string, string>;
  /** Whether sending it twice does no more than sending it once. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
};

export type Transport = ReturnType<typeof createTransport>;

/** Sends calls with the key, tries again what may pass, and throws what the service refuses as `WatchpostError`. */
export function createTransport(options: ClientOptions) {
  const { apiKey, attempts = 3, fetch = globalThis.fetch, sleep = wait } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');

  /** One request; any status is an answer. Throws `ConnectionError`. */
  async function open({ method, path, query = {}, body, headers, signal }: Call): Promise<Response> {
    const url = new URL(baseUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    try {
      return await fetch(url, {
        method,
        headers: {
          Authorization: `Bearer ${apiKey}`,
          ...(body && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new ConnectionError(`Cannot reach ${url.origin}`, { cause: error });
    }
  }

  /** What `read` makes of an answer with a 2xx status, read whole: a connection that breaks in mid-body is one that broke. */
  async function send<Answer>(call: Call, read: (response: Response) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await open(call);
        if (!response.ok) throw await refusalOf(response);
        return await read(response).catch(asBroken);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!call.repeatable || attempt >= attempts || !mayPass(error)) throw error;
        await sleep(pauseBefore(attempt, error), call.signal);
      }
    }
  }

  return { open, send, sleep };
}

function asBroken(cause: unknown): never {
  if (cause instanceof WatchpostError) throw cause;
  throw new ConnectionError('The answer broke off', { cause });
}

/** The error in an answer that is not 2xx. */
export async function refusalOf(response: Response): Promise<WatchpostError> {
  const text = await response.text().catch(() => '');
  return errorOf(response.status, parsed(text), response.headers.get('Retry-After'));
}

/** Doubling from half a second up to 30 s, spread by half so that many clients do not return together. */
export function backoffMilliseconds(failures: number): number {
  return Math.min(30_000, 500 * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

export function mayPass(error: unknown): boolean {
  return (error instanceof WatchpostError || error instanceof ConnectionError) && error.retryable;
}

function pauseBefore(attempt: number, error: unknown): number {
  const asked = error instanceof WatchpostError ? error.retryAfterSeconds : undefined;
  return asked === undefined ? backoffMilliseconds(attempt) : asked * 1_000;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
