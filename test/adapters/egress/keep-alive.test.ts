import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { deferWebhookHttp } from '../../../adapters/aws/deferred.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp, type GuardedRequest } from '../../../adapters/egress/guarded-http.ts';
import { startHttpProxy } from '../../support/servers/http-proxy.ts';

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const opened = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });

async function serve() {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.end('ok');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

const write = { method: 'POST', isLenient: true } as const;

test('a connection that was idle by the wall clock is not reused, although the timers stood still', async () => {
  let nowMs = 0;
  const http = createGuardedHttp(opened, { now: () => nowMs });
  closers.push(() => http.close());
  const { port, requests } = await serve();
  const request = () => http.request(`http://127.0.0.1:${port}/`, { maxBytes: 10, timeoutMs: 3_000 });
  await request();
  nowMs = 19_000;
  await request();
  nowMs += 21_000;
  await request();
  expect(requests[1]!.socket).toBe(requests[0]!.socket);
  expect(requests[2]!.socket).not.toBe(requests[0]!.socket);
});

test('a read whose reused connection the server closes meanwhile is sent again, a first request is not, and a write has a connection of its own', async () => {
  const received: string[] = [];
  const server = createTcpServer((socket) => {
    let requests = 0;
    socket.on('data', (bytes) => {
      requests += 1;
      received.push(`${bytes.toString().split(' ')[0]} ${requests}`);
      if (requests === 2 || bytes.includes('/refused')) socket.end();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closers.push(() => void server.close());
  const http = createGuardedHttp(opened);
  closers.push(() => http.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request = (path: string, options: Pick<GuardedRequest, 'method' | 'isLenient'> = {}) =>
    http.request(`${origin}${path}`, { ...options, maxBytes: 10, timeoutMs: 3_000 });
  await request('/');
  expect((await request('/')).status).toBe(200);
  expect((await request('/', write)).status).toBe(200);
  await expect(request('/refused', write)).rejects.toThrow();
  expect((await request('/', { method: 'POST' })).status).toBe(200);
  await expect(request('/refused')).rejects.toThrow();
  const queries = ['POST 2', 'POST 1'];
  expect(received).toEqual(['GET 1', 'GET 2', 'GET 1', 'POST 1', 'POST 1', ...queries, 'GET 2', 'GET 1']);
});

test('a connection through a proxy that was idle by the wall clock is not reused either', async () => {
  let nowMs = 0;
  const outside = createEgressGuard({
    allowRanges: [],
    lookup: () => Promise.resolve([{ address: '93.184.216.34', family: 4 as const }]),
  });
  const http = createGuardedHttp(outside, { now: () => nowMs });
  closers.push(() => http.close());
  const proxy = await startHttpProxy();
  closers.push(() => proxy.close());
  const { port } = await serve();
  const url = `http://example.com:${port}/`;
  const request = () => http.request(url, { maxBytes: 10, timeoutMs: 3_000, proxyUrl: proxy.url });
  await request();
  nowMs = 19_000;
  await request();
  expect(proxy.asked).toHaveLength(1);
  nowMs += 21_000;
  await request();
  expect(proxy.asked).toHaveLength(2);
});

test('the client for webhooks on AWS opens a connection for each request', async () => {
  const http = deferWebhookHttp(opened);
  closers.push(() => http.close());
  const { port, requests } = await serve();
  for (const _ of [1, 2])
    await http.request(`http://127.0.0.1:${port}/`, { ...write, maxBytes: 10, timeoutMs: 3_000 });
  expect(requests[1]!.socket).not.toBe(requests[0]!.socket);
});
