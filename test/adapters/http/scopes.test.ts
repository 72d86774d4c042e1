import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '../../../core/records/key.ts';
import { createClientFor, clientWith, internal } from '../../support/api-client.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.close());

const forbidden = { status: 403, body: { error: { code: 'FORBIDDEN', message: 'Access denied' } } };
const id = '11111111-1111-1111-1111-111111111111';

describe('a key without the scope jobs', () => {
  test.each([
    ['POST', '/check-once'],
    ['POST', '/live-monitor'],
    ['POST', '/live-digest'],
    ['POST', '/streams/validate'],
    ['POST', '/analyze-frame'],
    ['GET', '/jobs'],
    ['GET', `/jobs/${id}`],
    ['DELETE', `/jobs/${id}`],
    ['GET', `/jobs/${id}/events`],
    ['GET', `/jobs/${id}/media/1`],
    ['GET', `/jobs/${id}/frame`],
    ['GET', `/jobs/${id}/deliveries`],
    ['POST', `/jobs/${id}/deliveries/1/resend`],
    ['POST', '/webhook-test'],
    ['GET', '/webhook-secret'],
    ['POST', '/webhook-secret/rotate'],
    ['GET', '/an/endpoint/of/tomorrow'],
  ])('a key without the scope jobs gets 403 at %s %s before the request is read', async (method, path) => {
    const operator = await createClientFor(world, ['internal', 'admin']);
    expect(await operator.call(method, path)).toMatchObject(forbidden);
  });

  test('a key without the scope jobs reads what its own scopes allow', async () => {
    const operator = await createClientFor(world, ['internal', 'admin']);
    for (const path of ['/metrics', '/logs', '/alarms', '/keys', '/callers'])
      expect((await operator.call('GET', path, undefined, internal)).status, path).toBe(200);
  });
});

describe('what is internal', () => {
  const paths = ['/metrics', '/logs', '/alarms'];

  test.each<[string, Scope[], Record<string, string>]>([
    ['the scope without the header', ['jobs', 'internal'], {}],
    ['the scope with another value of the header', ['internal'], { 'x-service-internal': '1' }],
    ['the header without the scope', ['jobs'], internal],
    ['an admin without the scope', ['jobs', 'admin'], internal],
  ])('an internal endpoint returns 403 for %s', async (_, scopes, headers) => {
    const client = await createClientFor(world, scopes);
    for (const path of paths)
      expect(await client.call('GET', path, undefined, headers)).toMatchObject(forbidden);
  });

  test('an internal endpoint returns 401 without a key, with or without the header', async () => {
    const stranger = clientWith(world, 'wp_nobody');
    for (const path of paths)
      expect((await stranger.call('GET', path, undefined, internal)).status).toBe(401);
  });
});

test.each(['GET', 'POST'])('the request %s /callers returns 403 without the scope admin', async (method) => {
  const client = await createClientFor(world, ['jobs', 'internal']);
  expect(await client.call(method, '/callers')).toMatchObject(forbidden);
});
