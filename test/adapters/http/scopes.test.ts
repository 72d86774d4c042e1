import { beforeEach, describe, expect, test } from 'vitest';
import { endpoints } from '../../../adapters/http/endpoints/endpoints.ts';
import type { Scope } from '../../../core/records/key.ts';
import { createClientFor, internal } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const forbidden = { status: 403, body: { error: { code: 'FORBIDDEN', message: 'Access denied' } } };
const id = '11111111-1111-1111-1111-111111111111';

const reading = [
  ['GET', '/jobs'],
  ['GET', `/jobs/${id}`],
  ['GET', `/jobs/${id}/events`],
  ['GET', `/jobs/${id}/media/1`],
  ['GET', `/jobs/${id}/frame`],
  ['GET', `/jobs/${id}/deliveries`],
] as const;
const acting = [
  ['POST', '/check-once'],
  ['POST', '/live-monitor'],
  ['POST', '/live-digest'],
  ['POST', '/streams/validate'],
  ['POST', '/analyze-frame'],
  ['DELETE', `/jobs/${id}`],
  ['POST', `/jobs/${id}/deliveries/1/resend`],
  ['POST', '/webhook-test'],
] as const;
const managing = [
  ['GET', '/keys'],
  ['POST', '/keys'],
  ['PATCH', `/keys/${id}`],
  ['DELETE', `/keys/${id}`],
  ['POST', `/keys/${id}/rotate`],
  ['GET', '/webhook-secret'],
  ['POST', '/webhook-secret/rotate'],
] as const;

describe('a key without a scope', () => {
  test.each([...acting, ...managing])('a key that only reads gets 403 at %s %s', async (method, path) => {
    const reader = await createClientFor(world, ['read']);
    expect(await reader.call(method, path)).toMatchObject(forbidden);
  });

  test.each(managing)(
    'a key for jobs gets 403 at %s %s, which manages keys and secrets',
    async (method, path) => {
      const worker = await createClientFor(world, ['jobs']);
      expect(await worker.call(method, path)).toMatchObject(forbidden);
    },
  );

  test('a key with the scope jobs reads, and a key that only reads reads the same', async () => {
    for (const scopes of [['jobs'], ['read']] satisfies Scope[][]) {
      const client = await createClientFor(world, scopes);
      for (const [method, path] of reading)
        expect((await client.call(method, path)).status, path).not.toBe(403);
    }
  });

  test('an admin without further scopes manages keys', async () => {
    const admin = await createClientFor(world, ['admin']);
    expect((await admin.call('GET', '/keys')).status).toBe(200);
  });

  test('a key with jobs and keys grants read, and a key that manages keys grants no jobs', async () => {
    const worker = await createClientFor(world, ['jobs', 'keys']);
    expect((await worker.call('POST', '/keys', { scopes: ['read'] })).body.scopes).toEqual(['read']);
    const clerk = await createClientFor(world, ['keys']);
    expect(await clerk.call('POST', '/keys', { scopes: ['read'] })).toMatchObject(forbidden);
  });

  test('an unknown path is 404 for each valid key', async () => {
    const reader = await createClientFor(world, ['read']);
    expect((await reader.call('GET', '/an/endpoint/of/tomorrow')).status).toBe(404);
  });

  test('an endpoint that changes something requires more than the scope read', () => {
    const open = endpoints.filter(
      ({ scope, effect }) => effect !== 'reads' && (scope === 'read' || scope === 'any'),
    );
    expect(open.map((endpoint) => endpoint.id)).toEqual([]);
  });
});

describe('what is internal', () => {
  const paths = ['/metrics', '/logs', '/alarms'];

  test('the alarms of the service are returned unchanged, and none on one machine', async () => {
    const operator = await createClientFor(world, ['internal']);
    const read = async () => (await operator.call('GET', '/alarms', undefined, internal)).body;
    expect(await read()).toEqual({ alarms: null });
    const alarms = [{ name: 'failed-jobs', state: 'ok', description: 'Jobs fail.', since: null }] as const;
    world.c.alarms = { list: async () => [...alarms] };
    expect(await read()).toEqual({ alarms });
  });

  test('an operator without the scope jobs reads what its own scopes allow', async () => {
    const operator = await createClientFor(world, ['internal', 'admin']);
    for (const path of [...paths, '/keys', '/callers'])
      expect((await operator.call('GET', path, undefined, internal)).status, path).toBe(200);
  });
});

test.each(['GET', 'POST'])('the request %s /callers returns 403 without the scope admin', async (method) => {
  const client = await createClientFor(world, ['jobs', 'keys', 'internal']);
  expect(await client.call(method, '/callers')).toMatchObject(forbidden);
});
