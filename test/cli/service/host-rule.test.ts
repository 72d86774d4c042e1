import { describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mountOpenApi } from '../../../adapters/openapi/mount-openapi.ts';
import { createHostRule } from '../../../cli/service/http-server.ts';
import { readSettings } from '../../../cli/settings.ts';
import { createWorld } from '../../support/world.ts';

const answersTo = (variables: Record<string, string>) => createHostRule(readSettings({}, variables));

const network = { WATCHPOST_HOST: '0.0.0.0' };
const proxied = { WATCHPOST_PUBLIC_URL: 'https://watch.example.com:8443' };
const named = { WATCHPOST_HOST: 'Lab', WATCHPOST_ALLOWED_HOSTS: 'Watchpost.lan, nas' };

describe('Accepted hosts', () => {
  test.each<[string, Record<string, string>, string[], string[]]>([
    [
      'on loopback',
      {},
      ['localhost', '127.0.0.1', '127.0.0.2', '[::1]'],
      ['evil.example', '192.168.1.20', ''],
    ],
    [
      'in a network',
      network,
      ['localhost', '192.168.1.20', '10.0.0.4', '[fe80::1]'],
      ['evil.example', 'nas'],
    ],
    ['on all addresses of IPv6', { WATCHPOST_HOST: '::' }, ['[::]', '[fd00::2]'], ['evil.example']],
    [
      'behind a proxy',
      proxied,
      ['watch.example.com', 'localhost'],
      ['www.watch.example.com', '192.168.1.20'],
    ],
    ['with names', named, ['lab', 'watchpost.lan', 'nas', '192.168.1.20'], ['lan', 'evil.example']],
  ])('a service %s accepts its hosts only', (_, variables, accepted, refused) => {
    const accepts = answersTo(variables);
    expect(accepted.filter((host) => !accepts(host))).toEqual([]);
    expect(refused.filter((host) => accepts(host))).toEqual([]);
  });

  test.each(['nas:8787', 'http://nas', 'nas/', '*', '-nas'])(
    'the setting WATCHPOST_ALLOWED_HOSTS rejects %s',
    (value) => {
      expect(() => readSettings({}, { WATCHPOST_ALLOWED_HOSTS: value })).toThrow('must be host names');
    },
  );
});

describe('Requests for a host', () => {
  test.each([
    ['127.0.0.1:8787', 200],
    ['LOCALHOST:8787', 200],
    ['localhost.', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['evil.example@127.0.0.1', 200],
    ['a b', 403],
  ])('requests for the host %s return %i on every path', async (host, status) => {
    const world = createWorld();
    const deps = { ...world.c, acceptsHost: answersTo({}) };
    const app = createApp(deps);
    mountOpenApi(app, deps);
    for (const path of ['/healthz', '/openapi.json'])
      expect((await app.request(path, { headers: { host } })).status).toBe(status);
    const answer = await app.request('/api/jobs', { headers: { host } });
    expect(answer.status).toBe(status === 200 ? 401 : 403);
    if (status === 403)
      expect(await answer.json()).toMatchObject({
        error: { code: 'FORBIDDEN', remediation: expect.stringContaining('WATCHPOST_ALLOWED_HOSTS') },
      });
  });
});
