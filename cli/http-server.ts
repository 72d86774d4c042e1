import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { CommandError } from './command-error.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

export type HttpServer = {
  port: number;
  /** Until this is called, every request is answered with 503. */
  serve(fetch: Fetch): void;
  /** Takes no new connection and waits for the requests under way, at most 5 s. */
  close(): Promise<void>;
};

const closeGraceMs = 5000;

/** Listens at once, so that the port is known before anything is opened. Throws `CommandError` where it is taken. */
export async function listen(host: string, port: number): Promise<HttpServer> {
  let handler: Fetch = stillStarting;
  const server = serve({ fetch: (request) => handler(request), port, hostname: host });
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
      if ('closeIdleConnections' in server) server.closeIdleConnections();
      const grace = setTimeout(() => {
        if ('closeAllConnections' in server) server.closeAllConnections();
      }, closeGraceMs);
      await closed;
      clearTimeout(grace);
    },
  };
}

function stillStarting(): Response {
  return new Response('Starting; try again in a second.\n', { status: 503, headers: { 'Retry-After': '1' } });
}
