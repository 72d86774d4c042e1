import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { waitAtMost } from '../../core/time-limit.ts';
import { CommandError } from '../command-error.ts';
import { answerMalformed, malformedResponse, requestTimeouts } from './malformed-request.ts';
import type { RequestTimeouts } from './malformed-request.ts';

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
 * Maximum idle time of a connection, in milliseconds: longer than any response takes, and event streams send heartbeats. It
 * detects clients that neither read nor disconnect.
 */
const stillConnectionMs = 300_000;

/** Listens immediately, so that the port is known before other resources open. Throws `CommandError` if the port is in use. */
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
