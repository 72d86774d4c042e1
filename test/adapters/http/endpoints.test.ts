import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../adapters/http/app.ts';
import { defineEndpoint, type Endpoint } from '../../../adapters/http/endpoint.ts';
import { jsonResponse } from '../../../adapters/http/endpoint-response.ts';
import { endpoints } from '../../../adapters/http/endpoints/endpoints.ts';
import { apiCall } from '../../../adapters/mcp/mcp-server.ts';
import { hasScope, scopeSchema, type Scope } from '../../../core/records/key.ts';
import { readKey } from '../../support/api/api-story.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Declarations compared with the behavior of the app, which is called with their examples. */

let world: World;
beforeEach(() => {
  world = createWorld();
});

const allScopes = scopeSchema.options;

type Overrides = { scopes?: Scope[]; headers?: Record<string, string> };

async function callExample(endpoint: Endpoint, { scopes = allScopes, headers = {} }: Overrides = {}) {
  const { parameters, body = {} } = endpoint.examples;
  const [example] = Object.values(body);
  const given = Object.assign({}, parameters, example);
  const { path, init } = apiCall(endpoint, given, `Bearer ${await readKey(world, scopes)}`);
  for (const [name, value] of Object.entries(headers)) init.headers.set(name, value);
  return createApp(world.c).request(`/api${path}`, init);
}

const withScope = endpoints.filter(({ scope }) => scope !== 'any');

test.each(withScope)('the endpoint $id rejects a key that lacks only the scope $scope', async (endpoint) => {
  const others = allScopes.filter((scope) => endpoint.scope !== 'any' && !hasScope([scope], endpoint.scope));
  expect((await callExample(endpoint, { scopes: others })).status).toBe(403);
  expect((await callExample(endpoint)).status).not.toBe(403);
});

test.each(endpoints.filter(({ fixedHeaders }) => fixedHeaders))(
  '$id refuses a request with another value of a fixed header',
  async (endpoint) => {
    for (const name of Object.keys(endpoint.fixedHeaders ?? {}))
      expect((await callExample(endpoint, { headers: { [name]: 'other' } })).status).toBe(403);
  },
);

test.each(endpoints)(
  '$id is refused by the call limiter exactly if it declares the limit',
  async (endpoint) => {
    world.c.calls.admit = async () => ({
      kind: 'refused',
      limit: 'per minute',
      max: 120,
      retryAfterSeconds: 7,
    });
    const response = await callExample(endpoint);
    if (endpoint.rateLimit) {
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBe('7');
    } else expect(response.status).not.toBe(429);
  },
);

const withBody = endpoints.filter(({ request }) => request.body);

test.each(withBody)(
  'the endpoint $id rejects a body above its limit',
  async ({ method, path, maxBodyBytes }) => {
    const response = await createApp(world.c).request(`/api${path.replaceAll(/\{\w+\}/g, '1')}`, {
      method: method.toUpperCase(),
      headers: {
        Authorization: `Bearer ${await readKey(world, allScopes)}`,
        'Content-Length': `${maxBodyBytes + 1}`,
      },
      body: ' '.repeat(maxBodyBytes + 1),
    });
    expect(response.status).toBe(413);
  },
);

test('a request with issues in two parts reports those of the first: path, query, body, headers', async () => {
  const locations = async (
    path: string,
    init: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => {
    const headers = { ...init.headers, Authorization: `Bearer ${await readKey(world, allScopes)}` };
    const response = await createApp(world.c).request(`/api${path}`, { ...init, headers });
    const { detail } = z
      .object({ detail: z.array(z.looseObject({ loc: z.array(z.unknown()) })) })
      .parse(await response.json());
    return detail.map(({ loc }) => loc[0]);
  };
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': '' };

  expect(await locations('/jobs/1/deliveries?limit=x&after=y')).toEqual(['path']);
  expect(await locations('/live-monitor', { method: 'POST', headers, body: '{"stream_url":1}' })).toEqual([
    'body',
    'body',
  ]);
});

describe('defineEndpoint', () => {
  const declaration = {
    id: 'example',
    method: 'get',
    path: '/examples/{number}',
    tag: 'jobs',
    scope: 'any',
    title: 'Read an example',
    description: 'Only for tests.',
    effect: 'reads',
    request: { parameters: z.object({ number: z.coerce.number() }), query: z.object({ wide: z.string() }) },
    response: jsonResponse(z.object({ doubled: z.int() }), { description: 'The example' }),
    errors: [],
    examples: {},
  } as const;

  test('a handler receives the converted parts of the request, and only declared ones', () => {
    defineEndpoint(declaration, async (request) => {
      const number: number = request.parameters.number;
      const wide: string = request.query.wide;
      // @ts-expect-error -- the declaration has no body
      void request.body;
      return { doubled: number * wide.length };
    });
  });

  test('a handler must return what the response schema accepts', () => {
    // @ts-expect-error -- the response schema wants a number
    defineEndpoint(declaration, async () => ({ doubled: 'four' }));
    // @ts-expect-error -- the response schema wants the field
    defineEndpoint(declaration, async () => ({}));
  });

  test('a declaration gets the default time budget and body limit', () => {
    const endpoint = defineEndpoint(declaration, async () => ({ doubled: 2 }));
    expect(endpoint).toMatchObject({ timeBudgetSeconds: 10, maxBodyBytes: 32_000 });
  });
});
