import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { CommandError } from './command-error.ts';
import { answerMalformed, malformedResponse, requestTimeouts } from './malformed-request.ts';
import type { RequestTimeouts } from './malformed-request.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

export type HttpServer = {
  port: number;
  /** Until this is called, every request is answered with 503. */
  serve(fetch: Fetch): void;
  /** Takes no new connection and waits for the requests under way, at most 5 s. */
  close(): Promise<void>;
};

const closeGraceMs = 5000;
/**
 * A connection on which nothing moves for so long is closed: longer than any answer takes, and an event stream has its
 * heartbeats. It finds readers that neither read nor leave.
 */
const stillConnectionMs = 300_000;

/** Listens at once, so that the port is known before anything is opened. Throws `CommandError` where it is taken. */
export async function listen(
  host: string,
  port: number,
  idleMs: number = stillConnectionMs,
  patience: RequestTimeouts = requestTimeouts,
): Promise<HttpServer> {
  let handler: Fetch = stillStarting;
  const listener = getRequestListener((request) => handler(request), {
    hostname: host,
    errorHandler: malformedResponse,
  });
  const server = createServer(patience, (incoming, outgoing) => void listener(incoming, outgoing));
  answerMalformed(server);
  const answers = trackAnswers(server);
  server.setTimeout(idleMs);
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw new CommandError(
      `Cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`,
      'Stop what uses the port, or choose another with --port or WATCHPOST_PORT.',
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
      const patience = new AbortController();
      const grace = sleep(closeGraceMs, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([answers.allSent(), grace]);
      patience.abort();
      // Those that are kept alive, and those that were opened and never asked for anything.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Which answers are not sent to their end. */
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
