import { createServer } from 'node:http';
import { once } from 'node:events';
import { verifyWebhook, type WebhookEvent } from '../../client/index.ts';

/**
 * Starts a webhook receiver on loopback that verifies each signature. `refused` lists the errors of rejected requests.
 */
export async function startWebhookReceiver(secret: string, onEvent: (event: WebhookEvent) => void) {
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      try {
        onEvent(verifyWebhook(secret, request.headers, Buffer.concat(chunks).toString()).event);
        response.writeHead(204).end();
      } catch (error) {
        refused.push(String(error));
        response.writeHead(401).end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/alerts`,
    refused,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
