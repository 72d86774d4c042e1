import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import type { Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

type Received = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

/** Starts a receiver on loopback that stores requests and sends the given responses. Ends with its test. */
export async function startReceiver(answer: RequestListener) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void keep(request).then(() => answer(request, response));
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/hook`, received };

  async function keep(request: IncomingMessage): Promise<void> {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: await text(request) });
  }
}

/** Listens on loopback and resolves with the assigned port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return address.port;
}
