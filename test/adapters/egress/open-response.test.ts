import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { EgressRefusedError, EgressTimeoutError } from '../../../adapters/egress/errors.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
}

const open = (url: string, timeoutMs = 3_000, headers: Record<string, string> = {}) => {
  const http = createGuardedHttp(guard);
  closers.push(() => http.close());
  return http.open(url, { timeoutMs, headers });
};

test('a header is sent as UTF-8, such as a user name in a digest', async () => {
  const url = await serve(({ headers }, response) => {
    response.end(Buffer.from(headers.authorization ?? '', 'latin1'));
  });
  const response = await open(url, 3_000, { Authorization: 'Digest username="Jörg €"' });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  response.close();
  expect(Buffer.concat(chunks).toString()).toBe('Digest username="Jörg €"');
});

test('the body is read while it arrives, and its connection ends with it', async () => {
  const left = Promise.withResolvers<void>();
  const url = await serve((_, response) => {
    response.on('close', left.resolve);
    response.write('first');
    setTimeout(() => response.write('second'), 50);
  });
  const response = await open(url);
  const chunks: string[] = [];
  for await (const chunk of response.body) {
    chunks.push(Buffer.from(chunk).toString());
    if (chunks.length === 2) break;
  }
  response.close();
  expect(chunks).toEqual(['first', 'second']);
  await left.promise;
});

test('an encoded body is decoded', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('picture'));
  });
  const response = await open(url);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  response.close();
  expect(Buffer.concat(chunks).toString()).toBe('picture');
});

test('the timeout lasts until the response is closed', async () => {
  const url = await serve((_, response) => void response.write('first'));
  const response = await open(url, 200);
  const read = async () => {
    for await (const chunk of response.body) expect(chunk.length).toBe(5);
  };
  await expect(read()).rejects.toBeInstanceOf(EgressTimeoutError);
  response.close();
});

test('an address that is not allowed is refused, also after a redirect', async () => {
  const url = await serve(
    (_, response) => void response.writeHead(302, { location: 'http://127.0.0.2/' }).end(),
  );
  await expect(open(url)).rejects.toBeInstanceOf(EgressRefusedError);
  await expect(open('http://127.0.0.2/')).rejects.toBeInstanceOf(EgressRefusedError);
});
