import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { InvalidUrlError } from '../../core/errors.ts';
import { EgressLimitError, EgressNetworkError, EgressRefusedError, EgressUnresolvedError } from './errors.ts';
import { readCredentials } from './authorizer.ts';
import type { CookieJar } from './cookies.ts';
import type { EgressGuard } from './guard.ts';
import {
  createAgent,
  createProxyDispatcher,
  keepAliveMs,
  askAlone,
  askOnPool,
  isRefusedByParser,
  promisesContent,
  type Ask,
  type Received,
} from './ask.ts';
import { openDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { toEgressError } from './egress-error.ts';
import { collectBytes, decodeBody, readBody } from './read-body.ts';
import { nextHop, redirectTarget, webSchemes } from './redirect.ts';
import type { Hop } from './redirect.ts';

export type GuardedResponse = {
  status: number;
  /** URL of the last request after redirects. It still contains the credentials of the given URL. */
  url: string;
  /** Header names in lower case. Repeated headers are joined by commas. */
  headers: Record<string, string>;
  /** Decoded body. Empty with `headersOnly`. */
  body: Uint8Array;
};

export type GuardedRequest = {
  method?: 'GET' | 'POST' | 'PATCH';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Maximum size of the decoded body, in bytes. */
  maxBytes: number;
  /**
   * Called with the size of each decoded chunk of the body before it is kept. Throws to end the request with that
   * error.
   */
  onChunk?: (bytes: number) => void;
  /** Timeout from the call to the last byte, including redirects. */
  timeoutMs: number;
  /** Maximum redirects, 5 by default. 0 returns a redirect unchanged. */
  maxRedirects?: number;
  signal?: AbortSignal;
  /** Returns after the headers and discards the body. */
  headersOnly?: boolean;
  /**
   * For a POST that must not be repeated: it has a connection of its own, and what answers it may break the rules of
   * HTTP. Others are queries, as of platforms.
   */
  isLenient?: boolean;
  /** True if a body counts as far as it arrives, at most its first `maxBytes`: the status says enough. */
  mayLackBody?: boolean;
  /** True if a body counts as far as it arrives before its connection ends: its content shows whether it is whole. */
  mayLackEnd?: boolean;
  /**
   * True if what is no HTTP is a body too: its content shows where it begins. Has no effect without `isLenient`, or for
   * a GET, for which it is always one.
   */
  mayLackHead?: boolean;
  /** HTTP proxy of the operator, including credentials. `checkProxiedHost` describes the remaining checks. */
  proxyUrl?: string;
  /** Cookies of the stream. Each response adds to them, also a redirect. */
  cookies?: CookieJar | undefined;
};

/** Response whose body is read while it arrives. */
export type OpenResponse = Omit<GuardedResponse, 'body'> & {
  /** Decoded body. Throws `EgressTimeoutError`, `EgressNetworkError` and the abort reason. */
  body: AsyncIterable<Uint8Array>;
  /** Ends the connection. Must be called. */
  close(): void;
};

/** HTTP client for bodies without an end. */
export type StreamingHttp = {
  /**
   * Returns a response with any status after its headers. The timeout lasts until `close`. Throws like
   * `GuardedHttp.request`.
   */
  open(
    url: string,
    options: Pick<GuardedRequest, 'headers' | 'timeoutMs' | 'signal' | 'cookies'>,
  ): Promise<OpenResponse>;
};

/** HTTP client that connects only to allowed addresses. */
export type GuardedHttp = {
  /**
   * Returns a response with any status. Throws `EgressRefusedError` (also for malformed URLs and other schemes,
   * also in redirects), `EgressUnresolvedError`, `EgressLimitError`, `EgressTimeoutError`, `EgressNetworkError`,
   * and the abort reason.
   */
  request(url: string, options: GuardedRequest): Promise<GuardedResponse>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
};

/**
 * Creates an HTTP client with keep-alive. It ignores proxy variables of the environment. The timers of undici stop
 * while a function is frozen or a machine sleeps, and a server closes its side meanwhile: connections are replaced by
 * the wall clock.
 */
export function createGuardedHttp(
  guard: EgressGuard,
  options: {
    connectTimeoutMs?: number;
    allowInsecureTls?: false;
    now?: () => number;
  } = {},
): GuardedHttp & StreamingHttp {
  const { connectTimeoutMs = 5_000, now = Date.now } = options;
  const connections = { guard, connectTimeoutMs };
  const alone = askAlone(connections);
  /** Dispatchers by proxy, without one for direct requests. Proxies are settings, so there are few. */
  const pools = new Map<string | undefined, { dispatcher: Dispatcher; usedAtMs: number }>();
  return {
    request: async (url, request) => {
      const pool = findPool(request);
      const deadline = openDeadline(request.timeoutMs, request.signal);
      try {
        const isDirect = request.proxyUrl === undefined;
        const ask =
          request.isLenient && isDirect ? alone : askOnPool(pool.dispatcher, isDirect ? alone : null);
        const { answer, hop } = await followRedirects(guard, ask, url, request, deadline);
        const read = createReader(request);
        return await read(answer, hop).catch(async (error: unknown) => {
          if (!isRefusedByParser(error) || !isDirect || hop.method !== 'GET') throw error;
          return read(await sendHop(alone, hop, request, deadline), hop);
        });
      } catch (error) {
        throw asEgressError(error, guard, deadline);
      } finally {
        deadline.close();
        pool.usedAtMs = now();
      }
    },
    open: async (url, { headers = {}, ...rest }) => {
      const request = { ...rest, headers };
      const deadline = openDeadline(request.timeoutMs, request.signal);
      try {
        return stream(await followRedirects(guard, alone, url, request, deadline), guard, deadline);
      } catch (error) {
        deadline.close();
        throw asEgressError(error, guard, deadline);
      }
    },
    close: async () => {
      await Promise.all([...pools.values()].map(async ({ dispatcher }) => dispatcher.destroy()));
    },
  };

  /** Returns the connections of a proxy, or those of direct requests; new ones if they were idle for too long. */
  function findPool({ proxyUrl }: RequestHead) {
    const held = pools.get(proxyUrl);
    if (held !== undefined && now() - held.usedAtMs <= keepAliveMs) {
      held.usedAtMs = now();
      return held;
    }
    // Requests that run on it end first.
    void held?.dispatcher.close().catch(() => undefined);
    const dispatcher =
      proxyUrl === undefined ? createAgent(connections) : createProxyDispatcher(proxyUrl, connectTimeoutMs);
    const pool = { dispatcher, usedAtMs: now() };
    pools.set(proxyUrl, pool);
    return pool;
  }
}

/** Request without the limits of its body. */
type RequestHead = Omit<GuardedRequest, 'maxBytes' | 'onChunk' | 'headersOnly'>;

/**
 * Returns the egress error of a failed request. Throws `EgressTimeoutError`, or the abort reason, if its time is over.
 */
function asEgressError(error: unknown, guard: EgressGuard, deadline: Deadline): Error {
  deadline.throwIfOver();
  if (!(error instanceof InvalidUrlError)) return toEgressError(error);
  return new EgressRefusedError('URL is not allowed', { cause: error, setting: guard.setting });
}

async function followRedirects(
  guard: EgressGuard,
  ask: Ask,
  url: string,
  request: RequestHead,
  deadline: Deadline,
): Promise<{ answer: Answer; hop: Hop }> {
  let hop = firstHop(guard, url, request);
  for (let redirects = 0; ; redirects += 1) {
    if (request.proxyUrl !== undefined) await checkProxiedHost(guard, hop.url.hostname);
    const answer = await sendHop(ask, hop, request, deadline);
    const target = redirectTarget(answer.statusCode, answer.headers['location'], hop.url);
    if (target === null || request.maxRedirects === 0) return { answer, hop };
    answer.discard();
    if (redirects >= (request.maxRedirects ?? 5)) throw new EgressLimitError('Too many redirects');
    hop = nextHop(hop, answer.statusCode, target, guard);
  }
}

function stream({ answer, hop }: { answer: Answer; hop: Hop }, guard: EgressGuard, deadline: Deadline) {
  const { statusCode: status, headers, body } = answer;
  const decoded = decodeBody(body, headers, Infinity);
  return {
    status,
    headers,
    url: hop.url.href,
    body: readChunks(decoded, guard, deadline),
    close: () => {
      deadline.close();
      body.destroy();
      decoded.destroy();
    },
  };
}

async function* readChunks(
  body: Readable,
  guard: EgressGuard,
  deadline: Deadline,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) throw new EgressNetworkError('Response is not bytes');
      yield chunk;
    }
  } catch (error) {
    throw asEgressError(error, guard, deadline);
  }
}

function firstHop(guard: EgressGuard, text: string, request: RequestHead): Hop {
  const scheme = URL.parse(text)?.protocol.slice(0, -1);
  if (scheme !== undefined && !webSchemes.some((webScheme) => webScheme === scheme))
    throw new EgressRefusedError('The scheme of the URL is not allowed', { setting: guard.setting, scheme });
  const url = guard.check(text, webSchemes);
  const headers = basicAuthorization(url);
  // undici writes a byte per character: those of UTF-8 are what servers compute the digest of a user name from.
  for (const [name, value] of Object.entries(request.headers ?? {}))
    headers[name.toLowerCase()] = Buffer.from(value).toString('latin1');
  // Media have nothing to compress. What is compressed nevertheless counts decoded.
  headers['accept-encoding'] ??= 'identity';
  const { method = 'GET', body = null, mayLackHead = false } = request;
  return { url, method, headers, body, mayLackHead };
}

function basicAuthorization(url: URL): Record<string, string> {
  const credentials = readCredentials(url);
  if (credentials === null) return {};
  const text = `${credentials.username}:${credentials.password}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

type Answer = {
  statusCode: number;
  headers: Record<string, string>;
  body: Readable;
  /** Ends a response whose body is not read. */
  discard(): void;
};

async function sendHop(ask: Ask, hop: Hop, request: RequestHead, deadline: Deadline): Promise<Answer> {
  const headers = withCookies(hop, request.cookies);
  return toAnswer(await ask({ ...hop, headers }, deadline), hop, request);
}

function withCookies({ url, headers }: Hop, cookies: RequestHead['cookies']): Hop['headers'] {
  const cookie = cookies?.header(url);
  return cookie === undefined ? headers : { ...headers, cookie };
}

function toAnswer(received: Received, hop: Hop, { cookies, isLenient }: RequestHead): Answer {
  const { statusCode, body } = received;
  // An unread body that is destroyed emits an error, which may have no other listener.
  body.on('error', () => undefined);
  cookies?.take(hop.url, [received.headers['set-cookie'] ?? []].flat());
  const headers = flatten(received.headers);
  const isWhole = isLenient !== true && hasWhole(statusCode, hop, headers);
  return { statusCode: isWhole ? ok : statusCode, headers, body, discard: () => discard(body) };
}

/** Returns true if a response has all of the resource: a part that was asked for stays a part. */
function hasWhole(status: number, { method, headers }: Hop, { location }: Answer['headers']): boolean {
  return method === 'GET' && headers['range'] === undefined && promisesContent(status, location);
}

const ok = 200;

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

/**
 * Returns a reader of answers to a request, which is sent again for an odd body: bytes that were counted before do not
 * count twice.
 */
function createReader(request: GuardedRequest): (answer: Answer, hop: Hop) => Promise<GuardedResponse> {
  let counted = 0;
  return (answer, hop) => {
    let bytes = 0;
    const onChunk = (size: number): void => {
      bytes += size;
      if (bytes <= counted) return;
      request.onChunk?.(bytes - counted);
      counted = bytes;
    };
    return respond(answer, hop, { ...request, onChunk });
  };
}

async function respond(answer: Answer, hop: Hop, request: GuardedRequest): Promise<GuardedResponse> {
  const { statusCode: status, headers } = answer;
  if (request.headersOnly === true) {
    answer.discard();
    return { status, url: hop.url.href, headers, body: new Uint8Array() };
  }
  const { maxBytes, onChunk } = request;
  const source = request.mayLackEnd === true ? Readable.from(untilClosed(answer.body)) : answer.body;
  const body = await (request.mayLackBody === true
    ? collectBytes(readBegin(decodeBody(source, headers, maxBytes), maxBytes), maxBytes, onChunk)
    : readBody(source, headers, maxBytes, onChunk));
  // undici releases a connection one turn of the event loop after its response. An earlier request would open
  // another one.
  await setImmediate();
  return { status, url: hop.url.href, headers, body };
}

async function* untilClosed(body: Readable): AsyncGenerator {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof EgressNetworkError && error.fault === 'closed')) throw error;
  }
}

/** Reads at most `maxBytes` of a body, as far as it arrives. */
async function* readBegin(body: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  try {
    for await (const chunk of body) {
      if (left <= 0 || !(chunk instanceof Uint8Array)) return;
      yield chunk.subarray(0, left);
      left -= chunk.byteLength;
    }
  } catch {
    // The body ends here.
  }
}

const discardedBytes = 16_384;
const discardMs = 1_000;

/**
 * Reads a short remainder, so that the connection can be reused, or ends without a reset. Closes it if the remainder is
 * long or slow.
 */
function discard(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), discardMs);
  let left = discardedBytes;
  body.once('close', () => clearTimeout(timer));
  body.on('data', ({ length }: Uint8Array) => {
    left -= length;
    if (left < 0) body.destroy();
  });
}

/**
 * Rejects hosts that our resolver maps to a forbidden address. The proxy resolves names itself: no pinning. A proxy
 * must therefore not reach internal addresses. Throws `EgressRefusedError`.
 */
async function checkProxiedHost(guard: EgressGuard, host: string): Promise<void> {
  await guard.resolve(host).catch((error: unknown) => {
    if (!(error instanceof EgressUnresolvedError)) throw error;
  });
}
