import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { EgressTimeoutError } from '../../../adapters/egress/errors.ts';
import { createEgressGuard, type EgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp, type GuardedRequest } from '../../../adapters/egress/guarded-http.ts';
import { selfSigned } from './self-signed.ts';

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const opened = createEgressGuard({
  allowRanges: ['127.0.0.1/32'],
  lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
});

function client(guard: EgressGuard = opened) {
  const http = createGuardedHttp(guard, { connectTimeoutMs: 500 });
  closers.push(() => http.close());
  return (url: string, options: Partial<GuardedRequest> = {}) =>
    http.request(url, { maxBytes: 100_000, timeoutMs: 3_000, ...options });
}

async function listen(server: Server | TcpServer, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  closers.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  return { port: await listen(server), requests };
}

test.each([true, false])('a POST without a body states its length (lenient: %j)', async (isLenient) => {
  const { port, requests } = await serve((_, response) => response.end());
  await client()(`http://cam.example:${port}/`, { method: 'POST', isLenient });
  expect(requests[0]!.headers['content-length']).toBe('0');
});

describe('headersOnly', () => {
  test('a response is returned before its body arrives', async () => {
    const { port } = await serve((_, response) => response.writeHead(404).write('x'));
    const answer = await client()(`http://cam.example:${port}/`, { headersOnly: true });
    expect(answer).toMatchObject({ status: 404, body: new Uint8Array() });
  });

  test('a connection is reused if the rest of the body is short', async () => {
    const { port, requests } = await serve((_, response) => response.end('short'));
    const request = client();
    await request(`http://cam.example:${port}/1`, { headersOnly: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await request(`http://cam.example:${port}/2`, { headersOnly: true });
    expect(requests[0]!.socket).toBe(requests[1]!.socket);
  });
});

describe('the rest of the answer to a POST whose headers suffice', () => {
  /** Begins an answer, and returns the connection of the server after the client has it. */
  async function begin(length: number): Promise<Socket> {
    const { promise, resolve } = Promise.withResolvers<Socket>();
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
        resolve(socket);
      });
    });
    const port = await listen(server);
    const url = `http://cam.example:${port}/`;
    expect(
      await client()(url, { method: 'POST', body: 'x', headersOnly: true, isLenient: true }),
    ).toMatchObject({
      status: 200,
    });
    return promise;
  }

  /** Waits for a request of another connection, by which the end of an earlier one has arrived. */
  async function settle(): Promise<void> {
    const { port } = await serve((_, response) => response.end());
    await client()(`http://cam.example:${port}/`);
  }

  test('it is read if it is short, so that its server sees no reset', async () => {
    const socket = await begin(4);
    await settle();
    expect(socket.readableEnded).toBe(false);
    socket.write('body');
    await once(socket, 'end');
    expect(socket.errored).toBe(null);
  });

  test('it is not read if it is long', async () => {
    const socket = await begin(10_000_000);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(Buffer.alloc(100_000));
    await closed;
  });

  test('it is not waited for if it is slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    closers.push(() => void vi.useRealTimers());
    const socket = await begin(4);
    await settle();
    expect(socket.readableEnded).toBe(false);
    vi.advanceTimersByTime(1_000);
    await once(socket, 'close');
  });
});

describe.each<Partial<GuardedRequest>>([{}, { method: 'POST', body: 'x', isLenient: true }])(
  'a request (%j) of a name with an address that does not answer',
  (options) => {
    async function startSilent(addresses: string[]) {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      closers.push(() => void vi.useRealTimers());
      const silent = createTcpServer((socket) => void socket.on('error', () => undefined).resume());
      const port = await listen(silent, '127.0.0.2');
      const guard = createEgressGuard({
        allowRanges: ['127.0.0.0/28'],
        lookup: () => Promise.resolve(addresses.map((address) => ({ address, family: 4 as const }))),
      });
      const isAsked = once(silent, 'connection');
      const url = `https://cam.example:${port}/`;
      const answer = client(guard)(url, options).catch((error: unknown) => error);
      return { answer, port, isAsked };
    }

    test('the next address is tried after a share of the time', async () => {
      const { answer, port, isAsked } = await startSilent(['127.0.0.2', '127.0.0.3']);
      const other = createTlsServer(selfSigned);
      await new Promise<void>((resolve) => other.listen(port, '127.0.0.3', resolve));
      closers.push(() => void other.close());
      await isAsked;
      vi.advanceTimersByTime(250);
      expect(await answer).toMatchObject({ message: 'TLS certificate is not valid' });
    });

    test('the last address has all of it', async () => {
      const { answer, isAsked } = await startSilent(['127.0.0.2']);
      await isAsked;
      vi.advanceTimersByTime(500);
      expect(await answer).toBeInstanceOf(EgressTimeoutError);
    });
  },
);
