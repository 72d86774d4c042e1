import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mountMcp } from '../../../adapters/mcp/mount-mcp.ts';
import type { Scope } from '../../../core/records/key.ts';
import { createClientFor, type ApiClient } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Sessions of browsers: what a page of the console may do, and no other page. */

const origin = 'http://localhost';
const evil = 'http://localhost:9000';
let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world, ['jobs', 'keys']);
});

type Headers = Record<string, string>;
type Browser = { Cookie: string; 'Watchpost-Session': string };

async function send(method: string, path: string, headers: Headers = {}, body?: unknown) {
  const deps = { ...world.c, allowedOrigins: [evil] };
  const app = createApp(deps);
  mountMcp(app, deps);
  const response = await app.request(path, {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { response, status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function signIn(headers: Headers): Promise<Browser> {
  const { response, body } = await send('POST', '/api/session', { Origin: origin, ...headers });
  const cookie = response.headers.get('set-cookie') ?? '';
  return { Cookie: cookie.split(';')[0] ?? '', 'Watchpost-Session': body.proof };
}

const withKey = (): Promise<Browser> => signIn({ Authorization: `Bearer ${client.key}` });

async function createCode(scopes: Scope[] = ['read']): Promise<{ code: string; id: string }> {
  const made = await client.call('POST', '/keys', { scopes, label: 'telephone' });
  const { body } = await client.call('POST', `/keys/${made.body.key_id}/sign-in-code`);
  return { code: body.code, id: made.body.key_id };
}

const redeem = (code: string, from = origin) =>
  send('POST', '/api/session', { Origin: from, 'Watchpost-Sign-In': code });

const newKey = { label: 'by a page' };

test('a page of the console reads and changes with its session, and the session holds no key', async () => {
  const browser = await withKey();
  expect(JSON.stringify(browser)).not.toContain(client.key);
  expect((await send('GET', '/api/me', browser)).body.caller).toBe('harbour');
  expect((await send('POST', '/api/keys', { ...browser, Origin: origin }, newKey)).status).toBe(200);
});

test.each([
  [origin, false],
  ['https://watch.example', true],
])('the cookie of %s is out of reach of scripts, other sites and plain text', async (page, secure) => {
  const { response } = await send('POST', '/api/session', {
    Origin: page,
    Authorization: `Bearer ${client.key}`,
  });
  const cookie = response.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^watchpost_session=[\w.-]+; Max-Age=2592000; Path=\/api; HttpOnly;/);
  expect(cookie).toContain('SameSite=Strict');
  expect(cookie.includes('Secure')).toBe(secure);
  expect(response.headers.get('cache-control')).toBe('no-store');
});

describe('the cookie of a session', () => {
  const refused: [string, Headers][] = [
    ['without the proof, as a form or picture of any page sends it', { 'Watchpost-Session': '' }],
    ['with the proof of another session', { 'Watchpost-Session': 'A'.repeat(43) }],
    ['from another port of the host', { Origin: evil }],
    ['from another site', { Origin: 'https://evil.example' }],
    ['from a page without an origin', { Origin: 'null' }],
    ['from a page of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['by an address that a person opens', { 'Sec-Fetch-Site': 'none' }],
    ['with a key that is wrong', { Authorization: 'Bearer wp_wrong' }],
  ];
  test.each(refused)('a request %s is refused', async (_, headers) => {
    const sent = { ...(await withKey()), Origin: origin, ...headers };
    expect((await send('GET', '/api/me', sent)).status).toBe(401);
    expect((await send('POST', '/api/keys', sent, newKey)).status).toBe(401);
    expect((await send('POST', '/api/session', sent)).status).not.toBe(200);
  });

  test.each(['POST', 'PATCH', 'PUT', 'DELETE'])('a %s without an origin is refused', async (method) => {
    expect((await send(method, '/api/keys', await withKey())).status).toBe(401);
  });

  test('a call of /mcp is refused', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await send('POST', '/mcp', { ...(await withKey()), Origin: origin }, call)).status).toBe(401);
  });

  test('a session ends with the revocation of its key', async () => {
    const browser = await withKey();
    await client.call('DELETE', `/keys/${(await send('GET', '/api/me', browser)).body.key_id}`);
    expect((await send('GET', '/api/me', browser)).status).toBe(401);
    expect((await send('POST', '/api/session', { ...browser, Origin: origin })).status).toBe(401);
  });

  test('a session ends 30 days after the console was opened last', async () => {
    const first = await withKey();
    world.advance(29 * 86_400);
    const renewed = await signIn(first);
    expect(renewed['Watchpost-Session']).toBe(first['Watchpost-Session']);
    world.advance(2 * 86_400);
    expect((await send('GET', '/api/me', first)).status).toBe(401);
    expect((await send('GET', '/api/me', renewed)).status).toBe(200);
  });

  test('a cookie with any character changed is refused', async () => {
    const browser = await withKey();
    for (const at of [20, 60, 85, 95, 110, browser.Cookie.length - 5]) {
      const changed = browser.Cookie[at] === 'a' ? 'b' : 'a';
      const Cookie = browser.Cookie.slice(0, at) + changed + browser.Cookie.slice(at + 1);
      expect((await send('GET', '/api/me', { ...browser, Cookie })).status).toBe(401);
    }
  });
});

test('a sign-in begins a session of its own, whatever proof the request brings', async () => {
  const planted = 'attacker';
  const browser = await signIn({ Authorization: `Bearer ${client.key}`, 'Watchpost-Session': planted });
  expect(browser['Watchpost-Session']).toHaveLength(43);
});

test('no preflight lets a page of an allowed origin send what a session needs', async () => {
  const { response } = await send('OPTIONS', '/api/me', {
    Origin: evil,
    'Access-Control-Request-Method': 'GET',
    'Access-Control-Request-Headers': 'watchpost-session,watchpost-sign-in',
  });
  expect(response.headers.get('access-control-allow-headers')).not.toMatch(/watchpost/i);
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});

test('a sign-out removes the cookie', async () => {
  const { response, status } = await send('DELETE', '/api/session', { ...(await withKey()), Origin: origin });
  expect(status).toBe(204);
  expect(response.headers.get('set-cookie')).toMatch(/^watchpost_session=; Max-Age=0; Path=\/api/);
});

describe('a sign-in code', () => {
  test('a code signs in one browser with its key', async () => {
    const { code, id } = await createCode();
    const answers = await Promise.all([1, 2, 3].map(() => redeem(code)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
    expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({
      key_id: id,
      scopes: ['read'],
    });
    expect((await redeem(code)).status).toBe(401);
  });

  test('a code ends after 5 minutes and with its key, and is bound to pages of this service', async () => {
    const [late, revoked, foreign] = [await createCode(), await createCode(), await createCode()];
    await client.call('DELETE', `/keys/${revoked.id}`);
    expect((await redeem(revoked.code)).status).toBe(401);
    expect((await send('POST', '/api/session', { 'Watchpost-Sign-In': foreign.code })).status).toBe(401);
    expect((await send('GET', '/api/me', { 'Watchpost-Sign-In': foreign.code })).status).toBe(401);
    expect((await redeem(foreign.code.replace(/\.\d+\./, '.9999999999.'))).status).toBe(401);
    expect((await redeem(foreign.code)).status).toBe(200);
    world.advance(301);
    expect((await redeem(late.code)).status).toBe(401);
  });

  test('a code is refused for a key that was used, has more scopes, or belongs to another caller', async () => {
    const ask = (id: string) => client.call('POST', `/keys/${id}/sign-in-code`);
    expect((await ask((await client.call('GET', '/me')).body.key_id)).status).toBe(400);
    const admin = await createClientFor(world, ['admin', 'internal']);
    const more = await admin.call('POST', '/keys', { scopes: ['internal'], caller: 'harbour' });
    expect((await ask(more.body.key_id)).status).toBe(403);
    expect((await ask('f'.repeat(64))).status).toBe(404);
  });
});
