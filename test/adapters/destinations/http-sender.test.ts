import { createServer } from 'node:net';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createHttpSender } from '../../../adapters/destinations/http-sender.ts';
import { listen, startReceiver } from './receiver.ts';

test('the sender posts body and headers unchanged and adds its user agent', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(200).end());
  const body = '{"explanation":"Ein Schiff fährt ein 🚢"}';

  const result = await createSender().send({
    url: `${receiver.url}?site=1`,
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-signature': 'v1,a v1,b',
    },
    body,
  });

  expect(result).toMatchObject({ status: 200, error: null, retryAfter: null });
  expect(receiver.received).toHaveLength(1);
  expect(receiver.received[0]).toMatchObject({
    method: 'POST',
    url: '/hook?site=1',
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Watchpost/1.2.3',
      'webhook-id': 'msg_1',
      'webhook-signature': 'v1,a v1,b',
    },
  });
});

test.each([
  ['lines that end with LF alone', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nServer cheap\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'],
  ['a length below zero', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['100 before it', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
  ['103 before it', 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
  ['chunks without sizes', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n'],
  ['a body without end', 'HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n'],
  ['no reason', 'HTTP/1.1 200\r\n\r\n'],
  ['a status line alone', 'HTTP/1.1 200 OK\r\n'],
  ['no empty line behind its head', 'HTTP/1.1 200 OK\r\nserver: cheap\r\n'],
  ['tabs', 'HTTP/1.1\t200\tOK\r\n\r\n'],
  ['a name in small letters', 'http/1.1 200 ok\r\n\r\n'],
  ['another version', 'HTTP/2 200\r\n\r\n'],
])('an answer with %s is delivered, with one request', async (_, answer) => {
  const { url, requests } = await startRaw(answer);
  expect(await createSender().send({ url, headers: {}, body: '{}' })).toMatchObject({ status: 200 });
  expect(requests).toEqual([expect.stringMatching(/^POST .*\r\n\r\n\{\}$/s)]);
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
  ['a status in words', 'HTTP/1.1 OK\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['no status', 'HTTP/1.1\r\ncontent-length: 0\r\n\r\n'],
  ['a text about HTTP', 'HTTPS is needed: see page 200\n\n'],
  ['nothing', ''],
  ['half of a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
])('an answer of %s has no status', async (_, answer) => {
  const { url } = await startRaw(answer);
  expect(await createSender().send({ url, headers: {}, body: '{}' })).toMatchObject({
    status: null,
    error: expect.any(String),
  });
});

test('a Retry-After in a line that continues is read', async () => {
  const { url } = await startRaw('HTTP/1.1 429 Slow\r\nRetry-After:\r\n 40\r\n\r\n');
  expect(await sendTo(url)).toMatchObject({ status: 429, retryAfter: '40' });
});

test('the sender does not follow a redirect', async () => {
  const target = await startReceiver((_, response) => response.writeHead(200).end());
  const receiver = await startReceiver((_, response) =>
    response.writeHead(307, { location: target.url }).end(),
  );

  expect(await sendTo(receiver.url)).toMatchObject({ status: 307, error: null });
  expect(target.received).toEqual([]);
});

test('the sender does not wait for an endless body', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(200);
    response.write('a beginning');
  });

  expect(await sendTo(receiver.url, { timeoutSeconds: 2 })).toMatchObject({ status: 200 });
});

test('the sender times out if the receiver does not respond', async () => {
  const receiver = await startReceiver(() => undefined);

  const result = await sendTo(receiver.url, { timeoutSeconds: 0.1 });

  expect(result).toMatchObject({ status: null, error: 'No response in time' });
  expect(result.latencyMs).toBeGreaterThanOrEqual(90);
  expect(result.latencyMs).toBeLessThan(20_000);
});

test.each([
  ['accepts no connection', 'https', undefined],
  ['does not take it in time', 'http', true],
])(
  'a large request may be too large for a receiver only once it is sent: %s',
  async (_, scheme, isBroken) => {
    const server = createServer();
    onTestFinished(() => void server.close());
    server.on('connection', (socket) => onTestFinished(() => void socket.destroy()));
    const url = `${scheme}://127.0.0.1:${await listen(server)}/hook`;
    const sender = createSender({ timeoutSeconds: 0.3, connectTimeoutMs: 100 });

    const result = await sender.send({ url, headers: {}, body: new Uint8Array(2_000_000) });

    expect(result).toMatchObject({ status: null, error: 'No response in time' });
    expect(result.isBroken).toBe(isBroken);
  },
);

test('the sender returns the latency in whole milliseconds', async () => {
  const receiver = await startReceiver((_, response) => answerAfter(response, 50));

  const { latencyMs } = await sendTo(receiver.url);

  expect(Number.isInteger(latencyMs)).toBe(true);
  expect(latencyMs).toBeGreaterThanOrEqual(40);
});

test('a receiver that is unreachable or disconnects is a result without its address', async () => {
  const deaf = await unusedPort();
  const rude = await startReceiver((request) => request.socket.destroy());

  const results = [await sendTo(`http://127.0.0.1:${deaf}/hook`), await sendTo(rude.url)];

  for (const { status, error } of results) {
    expect(status).toBeNull();
    expect(error).toMatch(/^Connection was/);
    expect(error).not.toContain('127.0.0.1');
  }
});

test.each(['http://10.0.0.1/hook', 'http://169.254.169.254/', 'ftp://example.com/', 'no url'])(
  'a rejected URL is a result: %s',
  async (url) => {
    const result = await sendTo(url);

    // A latency would reveal whether the internal name exists.
    expect(result).toMatchObject({ status: null, retryAfter: null, latencyMs: 0 });
    expect(result.error).toMatch(/not allowed|refused|reserved/);
  },
);

test('a name that does not resolve is a result', async () => {
  const result = await sendTo('http://receiver.invalid/hook');

  expect(result).toMatchObject({ status: null, error: 'Host name cannot be resolved' });
});

function createSender({ timeoutSeconds = 10, connectTimeoutMs = 5000 } = {}) {
  const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'], lookup });
  const http = createGuardedHttp(guard, { connectTimeoutMs });
  onTestFinished(() => http.close());
  return createHttpSender({ http, version: '1.2.3', timeoutSeconds, elapsedMs: () => performance.now() });
}

const lookup = async () => Promise.reject(new Error('No such name'));

function sendTo(url: string, options?: { timeoutSeconds: number }) {
  return createSender(options).send({ url, headers: {}, body: '{}' });
}

function answerAfter(response: ServerResponse, delayMs: number): void {
  setTimeout(() => response.writeHead(200).end(), delayMs);
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server that sends the same bytes to each request and closes. */
async function startRaw(answer: string) {
  const requests: string[] = [];
  const server = createServer((socket) => {
    let request = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1');
      if (!request.endsWith('{}')) return;
      requests.push(request);
      socket.end(answer);
    });
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${port}/hook`, requests };
}
