import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export type Received = {
  path: string;
  id: string;
  verified: boolean;
  type: string;
  data: any;
  status: number;
  at: number;
};

/**
 * Starts a webhook receiver that verifies signatures with the public library. `answer` returns the status for an event
 * and the number of earlier deliveries with its `webhook-id`.
 */
export async function startReceiver(
  secret: () => string,
  answer: (path: string, type: string, before: number) => number = () => 204,
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { type, data } = JSON.parse(body);
      const id = String(request.headers['webhook-id']);
      const path = request.url ?? '/';
      const status = answer(path, type, received.filter((event) => event.id === id).length);
      received.push({
        path,
        id,
        verified: verifies(secret(), body, request.headers),
        type,
        data,
        status,
        at: Date.now(),
      });
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    of: (path: string) => received.filter((event) => event.path === path),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function verifies(secret: string, body: string, headers: NodeJS.Dict<string | string[]>): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
