import { ConnectionError, toError, WatchpostError } from './errors.ts';

/** Address, key and transport of a client. */
export type ClientOptions = {
  /** API address with base path: `https://HOST/api`. */
  baseUrl: string;
  /** API key, `wp_…`. Keep it on a server, never in a web page. */
  apiKey: string;
  /** Maximum attempts of a repeatable request, at least 1. Default 3. */
  attempts?: number;
  /** Function that sends a request. Default: `globalThis.fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Function that waits; rejects if `signal` aborts. Default: a timer. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
};

/** One API request. */
export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  headers?: Record<string, string>;
  /** True if a repetition has no further effect, so that the client may retry. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
};

/** HTTP transport, as `createTransport` returns it. */
export type Transport = ReturnType<typeof createTransport>;

/** Creates the HTTP transport: adds the key, retries transient errors, converts error responses to `WatchpostError`. */
export function createTransport(options: ClientOptions) {
  const { apiKey, attempts = 3, fetch = globalThis.fetch, sleep = wait } = options;
  const baseUrl = options.baseUrl.replace(/(?<!\/)\/+$/, '');

  /** Sends one request and returns the response for any status. Throws `ConnectionError`. */
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

  /**
   * Sends a request with retries and returns the result of `read` for a 2xx response. A body that breaks off is retried
   * too.
   */
  async function send<Answer>(call: Call, read: (response: Response) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await open(call);
        if (!response.ok) throw await readError(response);
        return await read(response).catch(toConnectionError);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!call.repeatable || attempt >= attempts || !isRetryable(error)) throw error;
        await sleep(delayBefore(attempt, error), call.signal);
      }
    }
  }

  return { open, send, sleep };
}

function toConnectionError(cause: unknown): never {
  if (cause instanceof WatchpostError) throw cause;
  throw new ConnectionError('The connection broke before the response was complete', { cause });
}

/** Reads the error of a response whose status is not 2xx. */
export async function readError(response: Response): Promise<WatchpostError> {
  const text = await response.text().catch(() => '');
  return toError(response.status, parsed(text), response.headers.get('Retry-After'));
}

/**
 * Returns the delay before the next attempt, in milliseconds: 500 doubled per failure, at most 30,000, with 50 %
 * jitter.
 */
export function backoffMilliseconds(failures: number): number {
  return Math.min(30_000, 500 * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

export function isRetryable(error: unknown): boolean {
  return (error instanceof WatchpostError || error instanceof ConnectionError) && error.retryable;
}

function delayBefore(attempt: number, error: unknown): number {
  const requestedSeconds = error instanceof WatchpostError ? error.retryAfterSeconds : undefined;
  return requestedSeconds === undefined ? backoffMilliseconds(attempt) : requestedSeconds * 1_000;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a key for one creation. Not a UUID, which browsers make only for pages of https. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
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
