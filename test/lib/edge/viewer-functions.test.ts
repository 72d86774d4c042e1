import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { distributionHostHeader, viewerHostHeader } from '../../../adapters/aws/http/origins.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { admitRequest as admitRequestOf, showPage } from '../../../lib/edge/edge-behaviors.ts';
import { createClientFor } from '../../support/api/api-client.ts';
import { runViewerFunction } from '../../support/api/viewer-function.ts';
import { createWorld, type World } from '../../support/world.ts';

const admitRequest = admitRequestOf(['https://app.example.com']);

describe('admitRequest', () => {
  test('the edge sends the requested host in a header', () => {
    const { headers } = runViewerFunction(admitRequest, {
      uri: '/healthz',
      headers: { host: 'watch.example.com' },
    });
    expect(headers[viewerHostHeader]).toEqual({ value: 'watch.example.com' });
  });

  test('the edge sends the host of its distribution in a header, whatever the viewer sends', () => {
    const { headers } = runViewerFunction(admitRequest, {
      uri: '/healthz',
      headers: {
        host: 'watch.example.com',
        [distributionHostHeader]: 'evil.example',
      },
    });
    expect(headers[distributionHostHeader]).toEqual({ value: 'd123.cloudfront.net' });
  });

  test('the edge overwrites a header of that name from the viewer', () => {
    const { headers } = runViewerFunction(admitRequest, {
      uri: '/healthz',
      headers: { host: 'watch.example.com', [viewerHostHeader]: 'evil.example' },
    });
    expect(headers[viewerHostHeader]).toEqual({ value: 'watch.example.com' });
  });
});

describe('admitRequest without a valid form of key', () => {
  const key = `wp_${'aB3-_'.repeat(9).slice(0, 43)}0a1b2c`;
  const asked = (uri: string, authorization?: string) =>
    runViewerFunction(admitRequest, {
      uri,
      headers: {
        host: 'watch.example.com',
        ...(authorization !== undefined && { authorization }),
      },
    });

  test.for([
    ['/api/jobs', undefined],
    ['/api', undefined],
    ['/mcp', ''],
    ['/api/live-monitor', 'Bearer nonsense'],
    ['/api/check-once', `Basic ${key}`],
    ['/api/jobs', `Bearer  ${key}`],
    ['/api/jobs', `Bearer ${key}0`],
  ] as const)('the edge rejects %s with the header %s like the service', async ([uri, authorization]) => {
    const world = createWorld();
    const refused = await createApp(world.c).request('/api/jobs');
    const { statusCode, headers, body } = asked(uri, authorization);
    expect(statusCode).toBe(401);
    expect(body).toEqual({ encoding: 'text', data: await refused.text() });
    for (const name of ['content-type', 'www-authenticate'])
      expect(headers[name].value).toBe(refused.headers.get(name));
  });

  test.for([
    ['/api/jobs', `Bearer ${key}`],
    ['/mcp', `bearer ${key}`],
    ['/openapi.json', undefined],
    ['/healthz', undefined],
    ['/docs', undefined],
    ['/apis', undefined],
    ['/api/openapi.json', undefined],
    ['/evidence/1/2.jpg', undefined],
  ] as const)('the edge forwards %s with the header %s', ([uri, authorization]) => {
    expect(asked(uri, authorization)).toMatchObject({ uri });
  });

  test.for([
    ['OPTIONS', 'https://app.example.com', true],
    ['OPTIONS', 'https://evil.example.com', false],
    ['OPTIONS', undefined, false],
    ['GET', 'https://app.example.com', false],
  ] as const)(
    'the edge handles %s of the origin %s without a key: forwarded %s',
    ([method, origin, isForwarded]) => {
      const headers = { host: 'watch.example.com', ...(origin && { origin }) };
      const handled = runViewerFunction(admitRequest, { method, uri: '/api/jobs', headers });
      expect(handled.statusCode).toBe(isForwarded ? undefined : 401);
    },
  );

  test('every created key has the form that the edge accepts', () => {
    const world = createWorld();
    const { text } = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
    expect(asked('/api/jobs', `Bearer ${text}`)).toMatchObject({ uri: '/api/jobs' });
  });
});

describe('sessions of the console at the edge', () => {
  let world: World;
  let key: string;
  beforeEach(async () => {
    world = createWorld();
    ({ key } = await createClientFor(world, ['jobs', 'keys']));
  });

  type Headers = Record<string, string>;
  const origin = 'https://watch.example.com';

  /** Sends a request as the console does: by the edge, which refuses it before the app or lets it pass. */
  async function send(method: string, path: string, headers: Headers, body?: unknown) {
    const sent = { host: 'watch.example.com', origin, 'content-type': 'application/json', ...headers };
    const handled = runViewerFunction(admitRequest, { method, uri: path, headers: sent });
    if (handled.statusCode !== undefined) return { status: 'refused by the edge' as const };
    const response = await createApp(world.c).request(`${origin}${path}`, {
      method,
      headers: { ...headers, origin, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, response, body: text === '' ? undefined : JSON.parse(text) };
  }

  async function begin(headers: Headers): Promise<Headers> {
    const { response, body } = await send('POST', '/api/session', headers);
    const cookie = response?.headers.get('set-cookie')?.split(';')[0] ?? '';
    return { Cookie: `theme=dark; ${cookie}`, 'Watchpost-Session': body.proof };
  }

  test('a browser signs in, reads, changes, renews and signs out by the edge', async () => {
    const browser = await begin({ Authorization: `Bearer ${key}` });
    expect((await send('GET', '/api/me', browser)).body.caller).toBe('harbour');
    expect((await send('POST', '/api/keys', browser, { label: 'new' })).status).toBe(200);
    expect((await send('GET', '/api/me', await begin(browser))).status).toBe(200);
    expect((await send('DELETE', '/api/session', browser)).status).toBe(204);
  });

  test('a telephone signs in by the edge with a code, which has no other use', async () => {
    const browser = await begin({ Authorization: `Bearer ${key}` });
    const made = await send('POST', '/api/keys', browser, { scopes: ['read'], label: 'telephone' });
    const { body } = await send('POST', `/api/keys/${made.body.key_id}/sign-in-code`, browser);
    const code = { 'Watchpost-Sign-In': body.code };
    expect((await send('GET', '/api/me', code)).status).toBe('refused by the edge');
    expect((await send('GET', '/api/me', await begin(code))).body.scopes).toEqual(['read']);
  });

  test.for<[string, Headers]>([
    ['without a cookie', { Cookie: '' }],
    ['with a cookie of another form', { Cookie: 'watchpost_session=1' }],
    ['without a proof', { 'Watchpost-Session': '' }],
    ['with a proof of another form', { 'Watchpost-Session': 'x' }],
    ['with a key of another form', { Authorization: 'Bearer 1' }],
  ])('the edge refuses a session %s', async ([, headers]) => {
    const browser = { ...(await begin({ Authorization: `Bearer ${key}` })), ...headers };
    expect((await send('GET', '/api/me', browser)).status).toBe('refused by the edge');
  });
});

describe('showPage', () => {
  test.for([
    ['/console', '/console/index.html'],
    ['/console/', '/console/index.html'],
    ['/console/jobs/1b7f', '/console/index.html'],
    ['/console/assets/main-1a2b.js', '/console/assets/main-1a2b.js'],
    ['/docs', '/docs/index.html'],
    ['/docs/', '/docs/index.html'],
    ['/docs/swagger-ui.css', '/docs/swagger-ui.css'],
  ] as const)('showPage maps %s to %s', ([uri, file]) => {
    const folder = uri.startsWith('/docs') ? 'docs' : 'console';
    expect(runViewerFunction(showPage(folder), { uri }).uri).toBe(file);
  });
});
