import { once } from 'node:events';
import { createServer, type Server, type ServerResponse, type ServerOptions } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import { waitAtMost } from '../../core/time-limit.ts';
import { CommandError } from '../command-error.ts';
import type { Duplex } from 'node:stream';
import { isIP } from 'node:net';
import { toHostname, isLoopback, type AcceptsHost } from '../../adapters/http/guard-host.ts';
import type { Settings } from '../settings.ts';

type RequestTimeouts = Required<
  Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval' | 'keepAliveTimeout' | 'maxHeaderSize'
  >
>;

/**
 * Time limits for sending a request, so that slow clients cannot hold all connections (slowloris). Responses have no
 * limit here.
 */
export const requestTimeouts: RequestTimeouts = {
  headersTimeout: 15_000,
  /** For the whole request, in milliseconds: 5 MB at 100 kB/s. */
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  /**
   * Longer than proxies keep idle connections: 60 s, and 75 s with nginx. One that this server closes meanwhile answers
   * 502.
   */
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
};

const text = 'Invalid HTTP request received.';

/**
 * Responds to requests that Node's parser rejects, in plain text (I-7.13). During another response, such as an event
 * stream, closes the connection instead.
 */
function answerMalformed(server: Server): void {
  const newest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => newest.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = newest.get(socket);
    const isResponding = response?.headersSent === true && !response.writableFinished;
    if (isResponding || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(error, socket);
  });
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  const body = statusLine(error.code) === badRequest ? text : '';
  socket.end(
    [
      `HTTP/1.1 ${statusLine(error.code)}`,
      'Connection: close',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}

/** Responds to a request that Node parsed but whose URL is invalid, such as one with a malformed host. */
function malformedResponse(error: unknown): Response {
  if (error instanceof RequestError)
    return new Response(text, { status: 400, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
  return new Response(null, { status: 500 });
}

const badRequest = '400 Bad Request';

function statusLine(code: string | undefined): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout';
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  return badRequest;
}

type Fetch = (request: Request) => Response | Promise<Response>;

export type HttpServer = {
  port: number;
  /** Sets the request handler; until then, every request gets 503. */
  serve(fetch: Fetch): void;
  /** Accepts no new connection and waits for requests in flight, at most 5 s. */
  close(): Promise<void>;
};

const closeGraceMs = 5000;
/**
 * Maximum idle time of a connection, in milliseconds: longer than any response takes, and event streams send
 * heartbeats. It detects clients that neither read nor disconnect.
 */
const stillConnectionMs = 300_000;

/**
 * Listens immediately, so that the port is known before other resources open. Throws `CommandError` if the port is in
 * use.
 */
export async function listen(
  host: string,
  port: number,
  idleMs: number = stillConnectionMs,
  timeouts: RequestTimeouts = requestTimeouts,
): Promise<HttpServer> {
  let handler: Fetch = stillStarting;
  const listener = getRequestListener((request) => handler(request), {
    hostname: host,
    errorHandler: malformedResponse,
  });
  const server = createServer(timeouts, (incoming, outgoing) => void listener(incoming, outgoing));
  answerMalformed(server);
  const answers = trackAnswers(server);
  server.setTimeout(idleMs);
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw new CommandError(
      `Cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`,
      'Stop the program that uses the port, or set another one with --port or WATCHPOST_PORT.',
      { cause: error },
    );
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    serve: (fetch) => {
      handler = fetch;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      await waitAtMost(closeGraceMs, answers.allSent(), () => undefined);
      // Closes idle keep-alive connections and connections without a request.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Tracks responses that are not complete. */
function trackAnswers(server: Server) {
  const open = new Set<ServerResponse>();
  server.on('request', (_, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return {
    allSent: async (): Promise<void> => {
      for (const response of open) if (!response.closed) await once(response, 'close');
    },
  };
}

function stillStarting(): Response {
  return new Response('Starting; try again in a second.\n', { status: 503, headers: { 'Retry-After': '1' } });
}

/**
 * Returns a function that accepts the hosts of the embedded service: loopback names, the listening address, the hosts
 * of the settings and, unless the service listens on loopback only, every IP address. DNS cannot redirect an IP
 * address, and a router or container host may map an unknown one to this machine.
 */
export function createHostRule({ host, publicUrl, allowedHosts }: Settings): AcceptsHost {
  const bound = toHostname(`http://${isIP(host) === 6 ? `[${host}]` : host}`);
  const names = new Set([bound, toHostname(publicUrl), ...allowedHosts]);
  names.delete('');
  const acceptsAddresses = !isLoopback(bound);
  return (hostname) =>
    isLoopback(hostname) || names.has(hostname) || (acceptsAddresses && isAddress(hostname));
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
