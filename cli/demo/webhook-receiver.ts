import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';

const envelopeSchema = z.object({
  type: z.string(),
  timestamp: z.string(),
  source_url: z.string(),
  data: z.looseObject({ job_id: z.string(), sequence: z.number() }),
});
/** Webhook event with the fields that the demo reads. */
export type Envelope = z.infer<typeof envelopeSchema>;

/**
 * Starts a webhook receiver on loopback that verifies each signature. `refused` lists the errors of rejected requests.
 */
export async function startWebhookReceiver(secret: string, onEvent: (event: Envelope, body: string) => void) {
  const webhook = new Webhook(secret);
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      try {
        onEvent(envelopeSchema.parse(webhook.verify(body, plain(request.headers))), body);
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

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
