import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { isOrigin } from '../../../adapters/http/cors.ts';
import { mountMcp } from '../../../adapters/mcp/mount-mcp.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Calls of web pages at other origins (https://fetch.spec.whatwg.org/#http-cors-protocol). */

const page = 'https://app.example.com';
let world: World;
beforeEach(() => {
  world = createWorld();
});

function ask(path: string, init: RequestInit, allowedOrigins = [page]) {
  const deps = { ...world.c, allowedOrigins };
  const app = createApp(deps);
  mountMcp(app, deps);
  return app.request(path, init);
}

const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type',
  },
});

describe('a page of an allowed origin', () => {
  test.each(['/api/live-monitor', '/mcp'])(
    'the preflight request at %s is answered without a key',
    async (path) => {
      const { status, headers } = await ask(path, preflight(page));
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(page);
      expect(headers.get('access-control-allow-headers')).toMatch(
        /Authorization.*Content-Type.*Idempotency-Key.*If-Match/,
      );
      expect(headers.get('access-control-allow-methods')).toMatch(/POST/);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    },
  );

  test('the page reads responses, also errors', async () => {
    const { status, headers } = await ask('/api/jobs', { headers: { Origin: page } });
    expect(status).toBe(401);
    expect(headers.get('access-control-allow-origin')).toBe(page);
    expect(headers.get('access-control-expose-headers')).toMatch(/Retry-After/);
    expect(headers.get('vary')).toMatch(/Origin/i);
  });

  test('the page may call MCP, which rejects other origins', async () => {
    const call = (origin: string) => ask('/mcp', { method: 'POST', headers: { Origin: origin } });
    expect((await call(page)).status).toBe(401);
    expect((await call('https://evil.example.com')).status).toBe(403);
  });
});

describe('a page of another origin', () => {
  test('the page reads no response', async () => {
    const evil = 'https://evil.example.com';
    for (const init of [preflight(evil), { headers: { Origin: evil } }])
      expect((await ask('/api/jobs', init)).headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a service without allowed origins sends no header of CORS and asks a preflight request for a key', async () => {
    const { status, headers } = await ask('/api/jobs', preflight(page), []);
    expect(status).toBe(401);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test.each([
  ['https://app.example.com', true],
  ['http://localhost:5173', true],
  ['https://app.example.com/', false],
  ['https://app.example.com/path', false],
  ['*', false],
  ['null', false],
  ['app.example.com', false],
])('the text %s is an origin: %s', (text, expected) => {
  expect(isOrigin(text)).toBe(expected);
});
