import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { httpEventSchema } from '../../../../adapters/aws/http/http-event.ts';
import { createHttpFunction } from '../../../../adapters/aws/http/http-function.ts';
import {
  distributionHostHeader,
  originHostsHeader,
  originSecretHeader,
  viewerHostHeader,
} from '../../../../adapters/aws/http/origins.ts';
import type { AuthEnv } from '../../../../adapters/http/bearer-auth.ts';
import { httpEvent } from './events.ts';

type Given = { versions?: string[]; later?: string[]; baseUrl?: string; fails?: boolean };

function make({ versions = ['new', 'old'], later = versions, baseUrl, fails = false }: Given = {}) {
  const built: string[] = [];
  const logged: string[] = [];
  const respond = createHttpFunction({
    originSecret: {
      current: async () => 'new',
      versions: async (max) => {
        if (fails) throw new Error('Secrets Manager does not answer');
        return max === undefined ? versions : later;
      },
    },
    log: { error: (message, fields) => void logged.push(`${message}: ${fields?.['error']}`) },
    baseUrl,
    appFor: (base, ownHosts) => {
      built.push(base);
      return new Hono<AuthEnv>()
        .get('/healthz', (context) => context.text(base))
        .get('/hosts', (context) => context.json(ownHosts));
    },
  });
  return {
    built,
    logged,
    respond: (headers: Record<string, string>, method = 'GET', rawPath = '/healthz') =>
      respond(httpEventSchema.parse(httpEvent({ headers, method, rawPath }))),
  };
}

const secret = { [originSecretHeader]: 'new' };

test.each([
  [{}],
  [{ [originSecretHeader]: '' }],
  [{ [originSecretHeader]: 'newer' }],
  [{ [originSecretHeader]: 'ne' }],
])(
  'a request that did not come through CloudFront is rejected: %j',
  async (headers: Record<string, string>) => {
    const { respond, built } = make();

    const response = await respond({ ...headers, [viewerHostHeader]: 'evil.example' });

    expect([response.status, await response.text()]).toEqual([403, 'Forbidden']);
    expect(built).toEqual([]);
  },
);

test('the previous secret is accepted during a rotation', async () => {
  expect((await make().respond({ [originSecretHeader]: 'old' })).status).toBe(200);
});

test('the secret is read again if CloudFront sends a newer one', async () => {
  const { respond } = make({ versions: ['old'], later: ['new', 'old'] });

  expect((await respond(secret)).status).toBe(200);
});

test("links begin with the host of the viewer request, or with the deployment's own", async () => {
  const viewed = { ...secret, [viewerHostHeader]: 'd123.cloudfront.net' };

  expect(await (await make().respond(viewed)).text()).toBe('https://d123.cloudfront.net/api');
  expect(await (await make({ baseUrl: 'https://watch.example/api' }).respond(viewed)).text()).toBe(
    'https://watch.example/api',
  );
  expect(await (await make().respond(secret)).text()).toBe('https://origin.example/api');
});

test('the app knows the hosts of viewer, distribution and origins', async () => {
  const { respond } = make();
  const headers = {
    ...secret,
    [viewerHostHeader]: 'watch.example',
    [distributionHostHeader]: 'd123.cloudfront.net',
    [originHostsHeader]: 'api.example,stream.example,events.example',
  };

  const response = await respond(headers, 'GET', '/hosts');

  expect(await response.json()).toEqual([
    'watch.example',
    'd123.cloudfront.net',
    'api.example',
    'stream.example',
    'events.example',
  ]);
});

test('an app is created once per host', async () => {
  const { respond, built } = make();

  await respond({ ...secret, [viewerHostHeader]: 'a.example' });
  await respond({ ...secret, [viewerHostHeader]: 'b.example' });
  await respond({ ...secret, [viewerHostHeader]: 'a.example' });

  expect(built).toEqual(['https://a.example/api', 'https://b.example/api']);
});

test('an invalid request gets the error envelope', async () => {
  const response = await make().respond(secret, 'TRACE');

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'BAD_REQUEST' } });
});

test('a failure outside of the app is logged and gets the error envelope', async () => {
  const { respond, logged } = make({ fails: true });
  const response = await respond(secret);

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { code: 'INTERNAL_ERROR' } });
  expect(logged).toEqual(['Request failed: Error: Secrets Manager does not answer']);
});
