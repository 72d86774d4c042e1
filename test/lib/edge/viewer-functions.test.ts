import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { distributionHostHeader, viewerHostHeader } from '../../../adapters/aws/http/origin-headers.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { admitRequest as admitRequestOf, showPage } from '../../../lib/edge/viewer-functions.ts';
import { createWorld } from '../../support/world.ts';

const admitRequest = admitRequestOf(['https://app.example.com']);

describe('admitRequest', () => {
  test('the edge sends the requested host in a header', () => {
    const { headers } = handle(admitRequest, {
      uri: '/healthz',
      headers: { host: { value: 'watch.example.com' } },
    });
    expect(headers[viewerHostHeader]).toEqual({ value: 'watch.example.com' });
  });

  test('the edge sends the host of its distribution in a header, whatever the viewer sends', () => {
    const { headers } = handle(admitRequest, {
      uri: '/healthz',
      headers: {
        host: { value: 'watch.example.com' },
        [distributionHostHeader]: { value: 'evil.example' },
      },
    });
    expect(headers[distributionHostHeader]).toEqual({ value: 'd123.cloudfront.net' });
  });

  test('the edge overwrites a header of that name from the viewer', () => {
    const { headers } = handle(admitRequest, {
      uri: '/healthz',
      headers: { host: { value: 'watch.example.com' }, [viewerHostHeader]: { value: 'evil.example' } },
    });
    expect(headers[viewerHostHeader]).toEqual({ value: 'watch.example.com' });
  });
});

describe('admitRequest without a valid form of key', () => {
  const key = `wp_${'aB3-_'.repeat(9).slice(0, 43)}0a1b2c`;
  const asked = (uri: string, authorization?: string) =>
    handle(admitRequest, {
      uri,
      headers: {
        host: { value: 'watch.example.com' },
        ...(authorization !== undefined && { authorization: { value: authorization } }),
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
    world.close();
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
      const headers = { host: { value: 'watch.example.com' }, ...(origin && { origin: { value: origin } }) };
      const handled = handle(admitRequest, { method, uri: '/api/jobs', headers });
      expect(handled.statusCode).toBe(isForwarded ? undefined : 401);
    },
  );

  test('every created key has the form that the edge accepts', () => {
    const world = createWorld();
    const { text } = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
    world.close();
    expect(asked('/api/jobs', `Bearer ${text}`)).toMatchObject({ uri: '/api/jobs' });
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
    expect(handle(showPage(folder), { uri }).uri).toBe(file);
  });
});

function handle(code: string, request: object): any {
  const context = { distributionDomainName: 'd123.cloudfront.net' };
  return runInNewContext(`${code}; handler({ request, context })`, { request, context });
}
