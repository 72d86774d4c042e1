import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Received webhook request. `at` is in epoch milliseconds. */
export type Delivery = {
  at: number;
  method: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: any;
  /** Status of the response. */
  status: number;
};

/** Response of the receiver, optionally delayed. */
export type Reply = { status: number; headers?: Record<string, string>; afterSeconds?: number };

/** Receiver URL of one job, with its deliveries. */
export type Inbox = {
  url: string;
  deliveries: Delivery[];
  /** Returns the events with a 2xx response, in order of arrival. */
  accepted(): any[];
  /** Waits until `found` returns a value. Throws after `withinSeconds`. */
  until<Found>(
    found: (deliveries: Delivery[]) => Found | undefined | false,
    withinSeconds: number,
  ): Promise<Found>;
};

export type Receiver = {
  /** Opens an inbox. `reply` receives the event and the number of earlier deliveries of the same body. */
  open(reply?: (event: any, before: number) => Reply): Inbox;
  close(): void;
};

export type ReceiverOptions = {
  port: number;
  host: string;
  /** Public address of the receiver. Default: the loopback address of the server. */
  url: string | undefined;
};

/** Starts a webhook receiver with one URL per job. */
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
          const received = deliveries.map(({ body, status }) => `${body?.type} (${status})`).join(', ');
          throw new Error(
            `Timeout after ${withinSeconds} s at the receiver: ${found.name || 'expected delivery'}; received: ${received || 'nothing'}`,
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
