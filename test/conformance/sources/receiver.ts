import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Delivery = {
  at: number;
  method: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: any;
  /** What was answered. */
  status: number;
};

export type Reply = { status: number; headers?: Record<string, string>; afterSeconds?: number };

/** A place of its own for one job: its address, and what has come to it. */
export type Inbox = {
  url: string;
  deliveries: Delivery[];
  /** The events that were answered with 2xx, in their order. */
  accepted(): any[];
  /** Resolves when `found` finds something in the deliveries; throws after `withinSeconds`. */
  until<Found>(
    found: (deliveries: Delivery[]) => Found | undefined | false,
    withinSeconds: number,
  ): Promise<Found>;
};

export type Receiver = {
  /** `reply` is given the event and how many deliveries of the same body came before. */
  open(reply?: (event: any, before: number) => Reply): Inbox;
  close(): void;
};

export type ReceiverOptions = {
  port: number;
  host: string;
  /** The address that the service calls; by default the server's own. */
  url: string | undefined;
};

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const inboxes = new Map<string, { deliveries: Delivery[]; reply: (event: any, before: number) => Reply }>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void take(Buffer.concat(chunks).toString()));

    async function take(text: string): Promise<void> {
      const inbox = inboxes.get(request.url?.split('/').at(-1) ?? '');
      if (inbox === undefined) return void response.writeHead(404).end();
      const { deliveries, reply } = inbox;
      const body = json(text);
      const before = deliveries.filter((delivery) => delivery.text === text).length;
      const { status, headers, afterSeconds = 0 } = reply(body, before);
      deliveries.push({
        at: Date.now(),
        method: request.method ?? '',
        headers: request.headers,
        text,
        body,
        status,
      });
      if (afterSeconds > 0) await sleep(afterSeconds * 1000, undefined, { ref: false });
      response.writeHead(status, headers).end();
    }
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const baseUrl = options.url ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    open: (reply = () => ({ status: 204 })) => {
      const name = randomUUID();
      const deliveries: Delivery[] = [];
      inboxes.set(name, { deliveries, reply });
      return inboxAt(`${baseUrl.replace(/\/$/, '')}/${name}`, deliveries);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function inboxAt(url: string, deliveries: Delivery[]): Inbox {
  return {
    url,
    deliveries,
    accepted: () => deliveries.filter(({ status }) => status < 300).map(({ body }) => body),
    until: async (found, withinSeconds) => {
      const deadline = Date.now() + withinSeconds * 1000;
      for (;;) {
        const result = found(deliveries);
        if (result !== undefined && result !== false) return result;
        if (Date.now() > deadline) {
          const came = deliveries.map(({ body, status }) => `${body?.type} (${status})`).join(', ');
          throw new Error(
            `Not within ${withinSeconds} s at the receiver: ${found.name || 'what was expected'}; came: ${came || 'nothing'}`,
          );
        }
        await sleep(100);
      }
    },
  };
}

function json(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
