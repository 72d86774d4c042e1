import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../../../adapters/egress/errors.ts';
import { createEgressGuard, type Address, type EgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp, type GuardedRequest } from '../../../adapters/egress/guarded-http.ts';
import { refusedHosts } from './vectors.ts';
import { selfSigned } from './self-signed.ts';

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Client in place of a public one: the guard allows 127.0.0.1 and no other loopback address. */
const opened = createEgressGuard({
  allowRanges: ['127.0.0.1/32'],
  lookup: (host) =>
    Promise.resolve([{ address: host === 'inside.example' ? '127.0.0.2' : '127.0.0.1', family: 4 }]),
});

function client(guard: EgressGuard = opened) {
  const http = createGuardedHttp(guard, { connectTimeoutMs: 500 });
  closers.push(() => http.close());
  return (url: string, options: Partial<GuardedRequest> = {}) =>
    http.request(url, { maxBytes: 100_000, timeoutMs: 3_000, ...options });
}

async function serve(
  listener: RequestListener,
  host = '127.0.0.1',
): Promise<{ port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  return { port: await listen(server, host), requests };
}

async function listen(server: Server | TcpServer, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closers.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Server at a forbidden address, which must never be connected to. */
async function canary(host = '127.0.0.2'): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  return { port: await listen(server, host), connections: () => connections };
}

const redirectTo =
  (location: string, status = 302) =>
  (_: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(status, { location }).end('moved');

describe('createGuardedHttp', () => {
  test('a response has status, headers and body, and the request sends the name as Host to the checked address', async () => {
    const { port, requests } = await serve((_, response) =>
      response.writeHead(404, { 'x-a': ['1', '2'] }).end('no'),
    );
    const answer = await client()(`http://cam.example:${port}/live?x=1#part`);
    expect(answer).toMatchObject({
      status: 404,
      headers: { 'x-a': '1, 2' },
      url: `http://cam.example:${port}/live?x=1#part`,
    });
    expect(Buffer.from(answer.body).toString()).toBe('no');
    expect(requests[0]).toMatchObject({ url: '/live?x=1', headers: { host: `cam.example:${port}` } });
  });

  test('a connection is reused by the next request without another lookup', async () => {
    let lookups = 0;
    const guard = createEgressGuard({
      allowRanges: ['127.0.0.1/32'],
      lookup: () =>
        Promise.resolve([{ address: (lookups += 1) === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]),
    });
    const { port, requests } = await serve((_, response) => response.end('ok'));
    const request = client(guard);
    await request(`http://cam.example:${port}/1`);
    await request(`http://cam.example:${port}/2`);
    expect(lookups).toBe(1);
    expect(requests[0]!.socket).toBe(requests[1]!.socket);
  });

  test('a request sends a body', async () => {
    let body = '';
    const { port, requests } = await serve((request, response) => {
      request
        .on('data', (chunk: Buffer) => (body += chunk.toString()))
        .on('end', () => response.writeHead(204).end());
    });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await client()(`http://cam.example:${port}/`, {
      method: 'POST',
      headers,
      body: '{"a":1}',
    });
    expect(answer.status).toBe(204);
    expect([requests[0]!.method, requests[0]!.headers['content-type'], body]).toEqual([
      'POST',
      'application/json',
      '{"a":1}',
    ]);
  });

  test('the credentials of a URL are sent as basic authorization', async () => {
    const { port, requests } = await serve((_, response) => response.end());
    await client()(`http://viewer:p%40ss%@cam.example:${port}/`);
    const expected = `Basic ${Buffer.from('viewer:p%40ss%').toString('base64')}`;
    expect(requests[0]!.headers.authorization).toBe(expected);
  });

  test('the next address is tried if one does not respond', async () => {
    const { port } = await serve((_, response) => response.end('second'));
    const addresses: Address[] = [
      { address: '127.0.0.3', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const guard = createEgressGuard({
      allowRanges: ['127.0.0.0/8'],
      lookup: () => Promise.resolve(addresses),
    });
    const answer = await client(guard)(`http://cam.example:${port}/`);
    expect(Buffer.from(answer.body).toString()).toBe('second');
  });

  test('proxy variables of the environment are ignored', async () => {
    const proxy = await canary('127.0.0.1');
    const { port } = await serve((_, response) => response.end('direct'));
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
    for (const name of names)
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`;
    closers.push(() => names.forEach((name) => delete process.env[name]));
    const answer = await client()(`http://cam.example:${port}/`);
    expect(Buffer.from(answer.body).toString()).toBe('direct');
    expect(proxy.connections()).toBe(0);
  });
});

describe('forbidden address', () => {
  test.each(refusedHosts)('%s is not connected to', async (host) => {
    const ports = [await canary('127.0.0.1'), await canary('::1')];
    const request = client(createEgressGuard({ allowRanges: [] }));
    for (const { port } of ports) {
      await expect(request(`http://${host}:${port}/`)).rejects.toBeInstanceOf(EgressRefusedError);
    }
    expect(ports.map((port) => port.connections())).toEqual([0, 0]);
  });

  test('a name that resolves to a forbidden address is not connected to', async () => {
    const target = await canary();
    await expect(client()(`http://inside.example:${target.port}/`)).rejects.toBeInstanceOf(
      EgressRefusedError,
    );
    expect(target.connections()).toBe(0);
  });

  test('a name that changes its address after the check is not connected to', async () => {
    const target = await canary();
    const { port } = await serve((_, response) => response.end('pinned'));
    let lookups = 0;
    const rebinding = createEgressGuard({
      allowRanges: ['127.0.0.1/32'],
      lookup: () =>
        Promise.resolve([{ address: (lookups += 1) === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]),
    });
    const request = client(rebinding);
    expect(Buffer.from((await request(`http://rebind.example:${port}/`)).body).toString()).toBe('pinned');
    // The next connection (another port) resolves again and is rejected.
    await expect(request(`http://rebind.example:${target.port}/`)).rejects.toBeInstanceOf(EgressRefusedError);
    expect([lookups, target.connections()]).toEqual([2, 0]);
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%d) to a forbidden literal is not followed',
    async (status) => {
      const target = await canary();
      const { port } = await serve(redirectTo(`http://127.0.0.2:${target.port}/`, status));
      await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressRefusedError);
      expect(target.connections()).toBe(0);
    },
  );

  test.each([
    'http://inside.example:PORT/',
    '//inside.example:PORT/',
    'http://0x7f.2:PORT/',
    'http://[::ffff:7f00:2]:PORT/',
  ])('a redirect to %s is not followed', async (location) => {
    const target = await canary();
    const { port } = await serve(redirectTo(location.replace('PORT', String(target.port))));
    await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressRefusedError);
    expect(target.connections()).toBe(0);
  });

  test.each(['file:///etc/passwd', 'ftp://cam.example/x', 'rtsp://cam.example/x', 'data:,x', 'http://'])(
    'a redirect to another scheme is not followed: %s',
    async (location) => {
      const { port } = await serve(redirectTo(location));
      await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressRefusedError);
    },
  );
});

describe('redirect', () => {
  test('a redirect is followed to the final URL, also a relative one', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/a/b') response.writeHead(302, { location: '../c' }).end();
      else response.end(request.url);
    });
    const answer = await client()(`http://cam.example:${port}/a/b`);
    expect(answer.url).toBe(`http://cam.example:${port}/c`);
    expect(Buffer.from(answer.body).toString()).toBe('/c');
  });

  test('credentials are kept within their origin and dropped for another one', async () => {
    const other = await serve((_, response) => response.end());
    const first = await serve((request, response) =>
      redirectTo(request.url === '/' ? '/again' : `http://other.example:${other.port}/`)(request, response),
    );
    const headers = { Authorization: 'Bearer secret', Cookie: 'a=b', 'X-Other': 'kept' };
    await client()(`http://cam.example:${first.port}/`, { headers });
    expect(first.requests.map((request) => request.headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ]);
    expect(other.requests[0]!.headers).not.toHaveProperty('authorization');
    expect(other.requests[0]!.headers).not.toHaveProperty('cookie');
    expect(other.requests[0]!.headers['x-other']).toBe('kept');
  });

  test.each([
    [302, 'GET'],
    [303, 'GET'],
    [307, 'POST'],
  ])('a redirect of a POST with %d becomes a %s', async (status, method) => {
    const { port, requests } = await serve((request, response) =>
      request.url === '/' ? redirectTo('/next', status)(request, response) : response.end(),
    );
    await client()(`http://cam.example:${port}/`, { method: 'POST', body: 'x' });
    expect(requests[1]!.method).toBe(method);
  });

  test('a redirect is returned unchanged if none may be followed', async () => {
    const { port } = await serve(redirectTo('http://127.0.0.2/'));
    const answer = await client()(`http://cam.example:${port}/`, { maxRedirects: 0 });
    expect(answer).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.2/' } });
  });

  test('a redirect loop ends after the sixth request', async () => {
    const { port, requests } = await serve(redirectTo('/'));
    await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressLimitError);
    expect(requests).toHaveLength(6);
  });
});

describe('byte limit', () => {
  const large = Buffer.alloc(50_000_000);

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    // The default quality, its highest, takes seconds for a bomb.
    [
      'br',
      (bytes: Parameters<typeof brotliCompressSync>[0]) =>
        brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ],
  ] as const)('a %s body that nobody asked for counts decoded', async (encoding, compress) => {
    const { port } = await serve((request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity');
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(compress(request.url === '/bomb' ? large : 'plain'));
    });
    const request = client();
    expect(Buffer.from((await request(`http://cam.example:${port}/`)).body).toString()).toBe('plain');
    await expect(request(`http://cam.example:${port}/bomb`)).rejects.toBeInstanceOf(EgressLimitError);
  });

  test('an endless response is ended with its connection', async () => {
    const closed = Promise.withResolvers<void>();
    const { port } = await serve((request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(20_000)), 1);
      request.socket.on('close', () => (clearInterval(timer), closed.resolve()));
    });
    await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressLimitError);
    await closed.promise;
  });

  test('a body above the limit is rejected by its announced length', async () => {
    const { port } = await serve((_, response) =>
      response.writeHead(200, { 'content-length': '9000000' }).write('x'),
    );
    await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressLimitError);
  });

  test('encoded bytes that decode to nothing are counted', async () => {
    const { port } = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync('').subarray(0, 10));
      const emptyBlocks = Buffer.from('000000ffff'.repeat(4000), 'hex');
      const timer = setInterval(() => response.write(emptyBlocks), 1);
      request.socket.on('close', () => clearInterval(timer));
    });
    await expect(client()(`http://cam.example:${port}/`)).rejects.toBeInstanceOf(EgressLimitError);
  });

  test('a body of exactly the limit is accepted', async () => {
    const { port } = await serve((_, response) => response.end(Buffer.alloc(100)));
    expect((await client()(`http://cam.example:${port}/`, { maxBytes: 100 })).body).toHaveLength(100);
    await expect(client()(`http://cam.example:${port}/`, { maxBytes: 99 })).rejects.toBeInstanceOf(
      EgressLimitError,
    );
  });
});

describe('failed request', () => {
  test.each(['no headers', 'a stalled body'])('a request ends at its timeout: %s', async (kind) => {
    const { port } = await serve((_, response) => {
      if (kind === 'a stalled body') response.writeHead(200).write('x');
    });
    const request = client()(`http://cam.example:${port}/`, { timeoutMs: 100 });
    await expect(request).rejects.toBeInstanceOf(EgressTimeoutError);
  });

  test('a request ends at its timeout during redirects', async () => {
    const { port } = await serve(
      (request, response) => void setTimeout(() => redirectTo('/')(request, response), 60),
    );
    const request = client()(`http://cam.example:${port}/`, { timeoutMs: 150, maxRedirects: 100 });
    await expect(request).rejects.toBeInstanceOf(EgressTimeoutError);
  });

  test('a request ends if the name is not resolved in time', async () => {
    const guard = createEgressGuard({ allowRanges: [], lookup: () => new Promise(() => undefined) });
    await expect(client(guard)('http://cam.example/')).rejects.toBeInstanceOf(EgressTimeoutError);
  });

  test('a request ends with the abort reason', async () => {
    const { port } = await serve(() => undefined);
    const controller = new AbortController();
    const request = client()(`http://cam.example:${port}/`, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('job was cancelled')), 20);
    await expect(request).rejects.toThrow('job was cancelled');
    await expect(client()('http://cam.example/', { signal: controller.signal })).rejects.toThrow(
      'job was cancelled',
    );
  });

  test('a refused connection, an unknown name and invalid HTTP have their own errors', async () => {
    const unused = await canary('127.0.0.1');
    await expect(client()(`http://cam.example:${unused.port}/`)).rejects.toBeInstanceOf(EgressNetworkError);
    await expect(client()('http://127.0.0.1:1/')).rejects.toThrow('Connection was refused');
    const nowhere = createEgressGuard({ allowRanges: [], lookup: () => Promise.resolve([]) });
    await expect(client(nowhere)('http://gone.example/')).rejects.toBeInstanceOf(EgressUnresolvedError);
  });

  const encoded = (encoding: string, body: string | Buffer) =>
    serve((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));

  test('a body that is not valid gzip is reported', async () => {
    const { port } = await encoded('gzip', gzipSync('#EXTM3U').fill(7, 3));
    await expect(client()(`http://cam.example:${port}/`)).rejects.toMatchObject({ fault: 'malformed' });
  });

  test.each(['utf-8', 'binary', 'none'])(
    'the bytes decide if the encoding %s is unknown',
    async (encoding) => {
      for (const body of ['#EXTM3U', gzipSync('#EXTM3U')]) {
        const { port } = await encoded(encoding, body);
        const answer = await client()(`http://cam.example:${port}/`);
        expect(Buffer.from(answer.body).toString()).toBe('#EXTM3U');
      }
    },
  );

  test('an error message contains neither address nor URL', async () => {
    const failure = await client()('http://u:secret@127.0.0.1:1/x').catch((error: Error) => error.message);
    expect(failure).toBe('Connection was refused');
  });
});

describe('TLS', () => {
  test.each(['', '0'])(
    'the server name is sent and an untrusted certificate is rejected (NODE_TLS_REJECT_UNAUTHORIZED=%j)',
    async (setting) => {
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = setting;
      closers.push(() => {
        delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      });
      const names: string[] = [];
      const server = createTlsServer({
        ...selfSigned,
        SNICallback: (name, done) => (names.push(name), done(null)),
      });
      const port = await listen(server, '127.0.0.1');
      await expect(client()(`https://cam.example:${port}/`)).rejects.toThrow('TLS certificate is not valid');
      expect(names).toEqual(['cam.example']);
    },
  );
});
