import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { EgressNetworkError, EgressRefusedError } from '../../../adapters/egress/errors.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp, type GuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { startHttpProxy } from '../../support/servers/http-proxy.ts';

/** The guard allows nothing: every connection goes through the proxy. */
const guard = createEgressGuard({
  allowRanges: [],
  lookup: (host) =>
    host === 'unknown.example'
      ? Promise.reject(new Error('ENOTFOUND'))
      : Promise.resolve([
          { address: host === 'inside.example' ? '10.0.0.5' : '93.184.216.34', family: 4 as const },
        ]),
});
const origin = createServer((request, response) => {
  const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
  if (to === null) response.end(`hello ${request.headers.host}`);
  else response.writeHead(302, { location: to }).end();
});
let port: number;
let http: GuardedHttp;
const proxies: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  await once(origin.listen(0, '127.0.0.1'), 'listening');
  port = (origin.address() as AddressInfo).port;
  http = createGuardedHttp(guard);
});
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});
afterAll(async () => {
  await http.close();
  origin.closeAllConnections();
  origin.close();
});

async function proxy(options: { status?: number } = {}) {
  const started = await startHttpProxy(options);
  proxies.push(started);
  return started;
}
const get = (url: string, proxyUrl: string) =>
  http.request(url, { maxBytes: 1000, timeoutMs: 3_000, proxyUrl });

test("a request is sent through the proxy by name and with the proxy's credentials", async () => {
  const through = await proxy();
  const { body } = await get(`http://video.example:${port}/`, through.urlWithCredentials);
  expect(Buffer.from(body).toString()).toBe(`hello video.example:${port}`);
  expect(through.asked).toEqual([
    {
      target: `video.example:${port}`,
      authorization: `Basic ${Buffer.from('agent:let me').toString('base64')}`,
    },
  ]);
});

test('a host may be known only to the proxy', async () => {
  const through = await proxy();
  await expect(get(`http://unknown.example:${port}/`, through.url)).resolves.toMatchObject({ status: 200 });
});

test.each([
  'http://127.0.0.1/',
  'http://0x7f.1/',
  'http://[::1]/',
  'http://localhost/',
  'http://169.254.169.254/latest/meta-data',
  'http://metadata.google.internal/',
  'http://inside.example/',
])('a request for %s is rejected before the proxy is contacted', async (url) => {
  const through = await proxy();
  await expect(get(url, through.url)).rejects.toThrow(EgressRefusedError);
  expect(through.asked).toEqual([]);
});

test.each(['http://10.0.0.5/', 'http://inside.example/', 'file:///etc/passwd'])(
  'a redirect to %s is not followed',
  async (to) => {
    const through = await proxy();
    const url = `http://video.example:${port}/?to=${encodeURIComponent(to)}`;
    await expect(get(url, through.url)).rejects.toThrow(EgressRefusedError);
    expect(through.asked).toHaveLength(1);
  },
);

test.each([403, 407, 502])(
  'a proxy response with status %d is a failure without details of the proxy',
  async (status) => {
    const through = await proxy({ status });
    const failure = await get(`http://video.example:${port}/`, through.urlWithCredentials).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(EgressNetworkError);
    expect((failure as Error).message).not.toMatch(/agent|127\.0\.0\.1/);
  },
);

test('other requests do not use the proxy', async () => {
  const through = await proxy();
  await expect(http.request(`http://127.0.0.1:${port}/`, { maxBytes: 10, timeoutMs: 1000 })).rejects.toThrow(
    EgressRefusedError,
  );
  expect(through.asked).toEqual([]);
});
