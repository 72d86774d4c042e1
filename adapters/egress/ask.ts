import { AssertionError } from 'node:assert';
import type { Readable } from 'node:stream';
import { errors, request, type Dispatcher, Agent, ProxyAgent, type buildConnector } from 'undici';
import type { Deadline } from './deadline.ts';
import { type Connections, connectGuarded } from './guarded-tcp.ts';
import { sendLenient, withCapitals } from './lenient-http.ts';
import type { Hop } from './redirect.ts';

export type Received = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> & { body: Readable };

/** Sends one request of a chain. */
export type Ask = (hop: Hop, deadline: Deadline) => Promise<Received>;

/** Asks on a connection for each request, whose response may break the rules of HTTP. */
export function askAlone(connections: Connections): Ask {
  return (hop, deadline) => sendLenient(connections, hop, deadline);
}

/**
 * Asks on connections that are kept. A GET whose response the parser refuses, or takes for an empty success, is sent
 * again by `otherwise`.
 */
export function askOnPool(dispatcher: Dispatcher, otherwise: Ask | null): Ask {
  return async (hop, deadline) => {
    const { method, body, url } = hop;
    const headers = withCapitals(hop.headers);
    const options = { dispatcher, method, headers, body, signal: deadline.signal };
    const ask = () => request(`${url.origin}${url.pathname}${url.search}`, options);
    const mayAskAgain = otherwise !== null && method === 'GET';
    try {
      const answer = await ask().catch((error: unknown) => {
        if (wasClosedMeanwhile(error)) return ask();
        throw error;
      });
      const { statusCode, headers: answered } = answer;
      // Asked again: 2xx, 3xx without an address, and statuses that HTTP does not have, unless they have no body (204,
      // 205, 304). Errors from 400 to 599 are not: a refused password, sent again, can lock an account.
      const isEmpty = promisesContent(statusCode, answered['location']) && answered['content-length'] === '0';
      if (!mayAskAgain || !isEmpty) return answer;
      answer.body.resume();
    } catch (error) {
      if (!mayAskAgain || !isRefusedByParser(error)) throw error;
    }
    return otherwise(hop, deadline);
  };
}

/**
 * Returns true if a status says that a response has what was asked for, even if its body is empty. Players take every
 * status for it that is no error, redirect, or answer without a body: of proxies that changed it (203), of all bytes as
 * a range (206), and numbers that HTTP does not have.
 */
export function promisesContent(status: number, location: unknown): boolean {
  const isSuccess = (status < 400 && location === undefined) || status >= 600;
  return isSuccess && !withoutBody.includes(status);
}

const withoutBody = [204, 205, 304];

/** Two lengths are one number for it, and it asserts that a status is not zero. */
export function isRefusedByParser(error: unknown): boolean {
  return refusals.some((type) => error instanceof type);
}

const refusals = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
  AssertionError,
];

/**
 * Returns true if the server closed a connection, which it had answered on, while the request was under way (RFC 9112,
 * 9.3.1).
 */
function wasClosedMeanwhile(error: unknown): boolean {
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
}

/**
 * Time without a request after which no connection is reused, in milliseconds. Longer than a tick of 10 s, so that
 * captures of a job share one.
 */
export const keepAliveMs = 20_000;

const usual = {
  allowH2: false,
  keepAliveTimeout: keepAliveMs,
  keepAliveMaxTimeout: 60_000,
  // The deadline of a request covers headers and body.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Creates a dispatcher of direct requests. It calls the guard once per connection. */
export function createAgent(connections: Connections): Dispatcher {
  return new Agent({
    ...usual,
    connect: (target, callback) => void connect(connections, target, callback),
  });
}

async function connect(
  { guard, connectTimeoutMs: timeoutMs }: Connections,
  { hostname: host, port, protocol }: buildConnector.Options,
  callback: buildConnector.Callback,
): Promise<void> {
  const isSecure = protocol === 'https:';
  const target = { host, port: Number(port) || (isSecure ? 443 : 80), isSecure, timeoutMs };
  const socket = await connectGuarded(guard, target).catch((error: Error) => error);
  if (socket instanceof Error) callback(socket, null);
  else callback(null, socket);
}

/**
 * Creates a dispatcher for an operator's HTTP proxy, which uses CONNECT for http and https. The guard does not
 * check the proxy's address, because the operator configured it. TLS certificates of proxy and target are always
 * checked.
 */
export function createProxyDispatcher(proxyUrl: string, connectTimeoutMs: number): Dispatcher {
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs };
  return new ProxyAgent({ ...usual, uri: proxyUrl, proxyTls: tls, requestTls: tls });
}
