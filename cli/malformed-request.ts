import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';

export type RequestTimeouts = Required<
  Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval' | 'keepAliveTimeout' | 'maxHeaderSize'
  >
>;

/** How long a client may take to send, so that many slow ones cannot hold all connections (slowloris). Answers may take longer. */
export const requestTimeouts: RequestTimeouts = {
  headersTimeout: 15_000,
  /** For the whole request: 5 MB at 100 kB/s. */
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};

const text = 'Invalid HTTP request received.';

/**
 * What Node's parser refuses is answered in plain text (interface section 7): there is no request to answer otherwise. In the middle
 * of another answer, such as an event stream, it ends the connection instead.
 */
export function answerMalformed(server: Server): void {
  const newest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => newest.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = newest.get(socket);
    const answering = response?.headersSent === true && !response.writableFinished;
    if (answering || !socket.writable || error.code === 'ECONNRESET') socket.destroy();
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

/** A request that Node could read and no URL can be made of, such as one with a malformed host. */
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
