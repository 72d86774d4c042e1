import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { setSystemTimer } from '../../../core/time-limit.ts';
import { createRequestBodies } from '../../../adapters/http/request-bodies.ts';
import { listen, requestTimeouts, type HttpServer } from '../../../cli/service/http-server.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Sends raw bytes and returns the raw response. */

let world: World;
let server: HttpServer;
let authorization: string;

beforeEach(async () => {
  world = createWorld();
  const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  authorization = `Authorization: Bearer ${minted.text}`;
  const quick = {
    ...requestTimeouts,
    headersTimeout: 300,
    requestTimeout: 600,
    connectionsCheckingInterval: 100,
  };
  server = await listen('127.0.0.1', 0, 5000, quick);
  const app = createApp(world.c);
  server.serve((request) => app.fetch(request));
});
afterEach(async () => {
  await server.close();
});

async function send(...parts: (string | Buffer | number)[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (const part of parts) {
    if (typeof part === 'number') await sleep(part);
    else if (socket.writable) socket.write(part);
  }
  await closed;
  return answer;
}

async function tick(controller: ReadableStreamDefaultController): Promise<void> {
  await sleep(50);
  controller.enqueue(new TextEncoder().encode(': tick\n\n'));
}

const head = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');

test('an idle connection is kept longer than proxies keep theirs', () => {
  expect(requestTimeouts.keepAliveTimeout).toBeGreaterThanOrEqual(75_000);
});

describe('a malformed HTTP request', () => {
  test.each([
    ['nonsense\r\n\r\n'],
    ['GET / HTTP/9.9\r\n\r\n'],
    ['GET /healthz HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n'],
    ['FETCH /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['POST /api/live-monitor HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n'],
    [
      'POST /api/live-monitor HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
    ['GET \\\\ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('a malformed request gets a plain text response: %j', async (request) => {
    const answer = await send(request);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/content-type: text\/plain/i);
    expect(answer).toMatch(/\r\n\r\nInvalid HTTP request received\.$/);
  });

  test('a request with too many headers returns 431', async () => {
    expect(await send(head('GET', '/healthz', `X-Long: ${'x'.repeat(20_000)}`))).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('a malformed request during a response closes the connection without writing into the response', async () => {
    server.serve(
      () =>
        new Response(new ReadableStream({ pull: tick }), {
          headers: { 'Content-Type': 'text/event-stream' },
        }),
    );
    const answer = await send(
      head('GET', '/events').replace('Connection: close\r\n', ''),
      200,
      'nonsense\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(': tick');
    expect(answer).not.toContain('Invalid HTTP request');
  });

  test('a malformed request does not end the service', async () => {
    await send('nonsense\r\n\r\n');
    expect(await send(head('GET', '/healthz'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a slow client', () => {
  test('a connection whose headers do not end is closed', async () => {
    const began = performance.now();
    expect(await send('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ')).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('a connection with a slow body is closed', async () => {
    const begin = head(
      'POST',
      '/api/live-monitor',
      authorization,
      'Content-Type: application/json',
      'Content-Length: 900',
    );
    const drops = Array.from({ length: 12 }, () => ['{', 100]).flat();
    expect(await send(begin, ...drops)).toMatch(/^HTTP\/1\.1 408 /);
    expect(world.logged.join()).not.toContain('Request failed');
  });

  test('a client can wait for a slow response without a time limit', async () => {
    world.c.streams.probe = async (url) => {
      await sleep(900);
      return { platform: 'hls', playbackUrl: url };
    };
    const body = JSON.stringify({ stream_url: 'https://example.com/live.m3u8' });
    const begin = head(
      'POST',
      '/api/streams/validate',
      authorization,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    );
    expect(await send(begin, body)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a body', () => {
  test('a chunked body beyond the limit is rejected before it ends', async () => {
    const begin = head(
      'POST',
      '/api/live-monitor',
      authorization,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    );
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(0x10_0000, 'x'),
      Buffer.from('\r\n'),
    ]);
    // Keep-alive connection: one that closes with unread bytes is reset, which can destroy the response.
    const keptAlive = begin.replace('Connection: close\r\n', '');
    const answer = await send(keptAlive, ...Array.from({ length: 8 }, () => chunk));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('PAYLOAD_TOO_LARGE');
  });

  test('a request without a key is rejected before its body arrives', async () => {
    const begin = head('POST', '/api/analyze-frame', 'Content-Type: application/json', 'Content-Length: 900');
    expect(await send(begin, '{')).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('a body that stops arriving returns 408 with the envelope and closes its connection', async () => {
    world.c.bodies = createRequestBodies({ setTimer: setSystemTimer, limits: { maxIdleMs: 50 } });
    const app = createApp(world.c);
    server.serve((request) => app.fetch(request));
    const begin = head(
      'POST',
      '/api/live-monitor',
      authorization,
      'Content-Type: application/json',
      'Content-Length: 900',
    ).replace('Connection: close\r\n', '');
    const answer = await send(begin, '{');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('REQUEST_TIMEOUT');
  });

  test('a client that disconnects within its body is not logged as a fault', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      head(
        'POST',
        '/api/live-monitor',
        authorization,
        'Content-Type: application/json',
        'Content-Length: 900',
      ),
    );
    socket.write('{"stream_url":');
    await sleep(100);
    socket.destroy();
    await sleep(100);
    expect(world.logged.join()).not.toContain('Request failed');
  });
});
