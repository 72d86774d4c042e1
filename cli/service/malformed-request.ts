import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';

export type RequestTimeouts = Required<
  Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval' | 'keepAliveTimeout' | 'maxHeaderSize'
  >
>;

/**
 * Time limits for sending a request, so that slow clients cannot hold all connections (slowloris). Responses have no limit here.
 */
export const requestTimeouts: RequestTimeouts = {
  headersTimeout: 15_000,
  /** For the whole request, in milliseconds: 5 MB at 100 kB/s. */
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  /** Longer than proxies keep idle connections: 60 s, and 75 s with nginx. One that this server closes meanwhile answers 502. */
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
};

const text = 'Invalid HTTP request received.';

/**
 * Responds to requests that Node's parser rejects, in plain text (I-7.13). During another response, such as an event
 * stream, closes the connection instead.
 */
export function answerMalformed(server: Server): void {
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
export function malformedResponse(error: unknown): Response {
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
