import { beforeEach, describe, expect, test } from 'vitest';
import { hashApiKey } from '../../../core/access/api-key.ts';
import type { Scope } from '../../../core/records/key.ts';
import { createClientFor, clientWith, type ApiClient } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world);
});

const findId = ({ key }: ApiClient) => hashApiKey(key, world.c)!;
const works = async (key: string) => (await clientWith(world, key).call('GET', '/me')).status === 200;
const createAdminClient = (caller = 'house') =>
  createClientFor(world, ['jobs', 'keys', 'internal', 'admin'], caller);
const forbidden = { status: 403, body: { error: { code: 'FORBIDDEN' } } };
/** Scopes of a key that creates keys. */
const both = { scopes: ['jobs', 'keys'] };
const notFound = { status: 404, body: { error: { code: 'NOT_FOUND' } } };

describe('making a key', () => {
  test('a created key is shown once and works immediately for the same caller', async () => {
    const { status, body, headers } = await client.call('POST', '/keys', { label: 'camera 1' });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      key: expect.stringMatching(/^wp_/),
      key_id: world.c.sha256(body.key),
      prefix: body.key.slice(0, 11),
      caller: 'harbour',
      scopes: ['jobs'],
      label: 'camera 1',
      created_by: findId(client),
      created_at: '2026-03-01T12:00:00.000Z',
      last_used_at: null,
      revoked_at: null,
    });
    expect(await works(body.key)).toBe(true);
    expect(JSON.stringify((await client.call('GET', '/keys')).body)).not.toContain(body.key);
  });

  test.each<[Scope[], Scope[]]>([
    [['jobs'], ['internal']],
    [['jobs'], ['jobs', 'admin']],
    [['internal'], ['jobs']],
    [['admin'], ['internal']],
  ])('a key with %s cannot grant %s', async (own, wanted) => {
    const granting = await createClientFor(world, own);
    expect(await granting.call('POST', '/keys', { scopes: wanted })).toMatchObject(forbidden);
    expect(await world.c.keys.list({ limit: 10 })).toHaveLength(2);
  });

  test('a key grants its own scopes, each once', async () => {
    const admin = await createAdminClient();
    const { body } = await admin.call('POST', '/keys', { scopes: ['internal', 'admin', 'internal'] });
    expect(body.scopes).toEqual(['internal', 'admin']);
  });

  test('a key for another caller requires an admin key and an existing caller', async () => {
    const spec = { caller: 'airport' };
    expect(await client.call('POST', '/keys', spec)).toMatchObject(forbidden);
    const admin = await createAdminClient();
    expect(await admin.call('POST', '/keys', spec)).toMatchObject(notFound);
    await admin.call('POST', '/callers', spec);
    const { body } = await admin.call('POST', '/keys', spec);
    expect(body).toMatchObject({ caller: 'airport', scopes: ['jobs'] });
    expect(await works(body.key)).toBe(true);
  });

  test.each([
    [{ scopes: [] }, 'custom', ['body', 'scopes']],
    [{ scopes: 'jobs' }, 'invalid_type', ['body', 'scopes']],
    [{ scopes: ['root'] }, 'invalid_value', ['body', 'scopes', 0]],
    [{ caller: 'a b' }, 'custom', ['body', 'caller']],
    [{ label: 'x'.repeat(201) }, 'too_big', ['body', 'label']],
  ])('a request with %j returns 422', async (body, type, loc) => {
    expect(await client.call('POST', '/keys', body)).toMatchObject({
      status: 422,
      body: { detail: [{ type, loc }] },
    });
  });

  test('a caller has at most a hundred valid keys', async () => {
    for (let made = 1; made < 100; made += 1)
      expect((await client.call('POST', '/keys', {})).status).toBe(200);
    world.advance(3600);
    expect(await client.call('POST', '/keys', {})).toMatchObject({
      status: 400,
      body: { error: { code: 'BAD_REQUEST' } },
    });
    const { body } = await client.call('GET', '/keys');
    await client.call('DELETE', `/keys/${body.keys.at(-1).key_id}`);
    expect((await client.call('POST', '/keys', {})).status).toBe(200);
  });
});

test('a caller creates at most a hundred keys per hour, and revokes without a limit', async () => {
  for (let made = 0; made < 99; made += 1) {
    const { body } = await client.call('POST', '/keys', {});
    expect((await client.call('DELETE', `/keys/${body.key_id}`)).status).toBe(200);
    world.advance(1);
  }
  const refused = await client.call('POST', '/keys', {});
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
  expect(refused.headers.get('retry-after')).toBe(String(3600 - 99));
  expect((await client.call('POST', `/keys/${findId(client)}/rotate`)).status).toBe(429);
  const other = await createClientFor(world, ['jobs', 'keys'], 'airport');
  expect((await other.call('POST', '/keys', {})).status).toBe(200);
  world.advance(3600 - 99);
  expect((await client.call('POST', '/keys', {})).status).toBe(200);
});

test('a revocation with descendants revokes directly and indirectly created keys', async () => {
  const { body: first } = await client.call('POST', '/keys', { ...both, label: 'first' });
  const { body: second } = await clientWith(world, first.key).call('POST', '/keys', {
    ...both,
    label: 'second',
  });
  const { body: third } = await clientWith(world, second.key).call('POST', '/keys', both);
  const { body: bystander } = await client.call('POST', '/keys', both);
  await client.call('DELETE', `/keys/${second.key_id}`);

  const { body } = await client.call('DELETE', `/keys/${first.key_id}?descendants=true`);

  expect(body).toMatchObject({ key_id: first.key_id, revoked_at: '2026-03-01T12:00:00.000Z' });
  expect(body.descendants.map(({ key_id: id }: { key_id: string }) => id)).toEqual([third.key_id]);
  expect(await Promise.all([first, second, third].map(({ key }) => works(key)))).toEqual([
    false,
    false,
    false,
  ]);
  expect(await works(bystander.key)).toBe(true);
  expect((await client.call('DELETE', `/keys/${bystander.key_id}`)).body).not.toHaveProperty('descendants');
});

test('a rotation with descendants revokes keys of the old key but not its successor', async () => {
  const { body: made } = await client.call('POST', '/keys', both);
  const { body: madeByIt } = await clientWith(world, made.key).call('POST', '/keys', both);
  const path = `/keys/${findId(client)}/rotate`;

  const { body } = await client.call('POST', `${path}?grace_seconds=60&descendants=true`);

  expect(body.replaces.descendants).toHaveLength(2);
  expect(body.created_by).toBe(findId(client));
  const all = [client.key, made.key, madeByIt.key];
  expect(await Promise.all(all.map(works))).toEqual([true, true, true]);
  world.advance(60);
  expect(await Promise.all(all.map(works))).toEqual([false, false, false]);
  expect(await works(body.key)).toBe(true);
});

test('a rotated key cannot create or rotate keys in its grace period', async () => {
  const { body: made } = await client.call('POST', '/keys', both);
  const { body } = await client.call('POST', `/keys/${findId(client)}/rotate`);
  expect(await client.call('POST', '/keys', both)).toMatchObject(forbidden);
  expect(await client.call('POST', `/keys/${made.key_id}/rotate`)).toMatchObject(forbidden);
  expect(await client.call('POST', `/keys/${findId(client)}/rotate`)).toMatchObject(forbidden);
  expect(await works(client.key)).toBe(true);
  expect((await clientWith(world, body.key).call('POST', '/keys', both)).status).toBe(200);
});

test('an admin who revokes a key with descendants keeps their own key', async () => {
  const first = await createAdminClient();
  const { body: own } = await first.call('POST', '/keys', { scopes: ['jobs', 'keys', 'internal', 'admin'] });
  const admin = clientWith(world, own.key);
  const { body } = await admin.call('DELETE', `/keys/${findId(first)}?descendants=true`);
  expect(body.descendants).toEqual([]);
  expect([await works(first.key), await works(admin.key)]).toEqual([false, true]);
});

describe('keys are listed', () => {
  test('keys are listed page by page', async () => {
    for (let made = 0; made < 4; made += 1) await client.call('POST', '/keys', {});
    const first = (await client.call('GET', '/keys?limit=3')).body;
    const rest = (await client.call('GET', `/keys?limit=3&after=${first.next_after}`)).body;
    expect([first.keys.length, rest.keys.length, rest.next_after]).toEqual([3, 2, null]);
    const all = (await client.call('GET', '/keys')).body;
    expect(all).toEqual({ keys: [...first.keys, ...rest.keys], next_after: null });
    expect((await client.call('GET', '/keys?after=nonsense')).status).toBe(422);
  });

  test('keys are listed for their own caller, without their text', async () => {
    await createClientFor(world, ['jobs'], 'airport');
    const { body } = await client.call('GET', '/keys');
    expect(body.keys.map(({ caller }: { caller: string }) => caller)).toEqual(['harbour']);
    expect(body.keys[0]).toMatchObject({ key_id: findId(client), prefix: client.key.slice(0, 11) });
  });

  test('keys of another caller are listed for an admin only', async () => {
    expect(await client.call('GET', '/keys?caller=airport')).toMatchObject(forbidden);
    const admin = await createAdminClient();
    const { body } = await admin.call('GET', '/keys?caller=harbour');
    expect(body.keys.map(({ key_id: id }: { key_id: string }) => id)).toEqual([findId(client)]);
    expect((await admin.call('GET', '/keys?caller=nobody')).body).toEqual({ keys: [], next_after: null });
  });
});

test('a label is changed, and null removes it', async () => {
  const path = `/keys/${findId(client)}`;
  expect((await client.call('PATCH', path, { label: 'gate' })).body).toMatchObject({ label: 'gate' });
  expect((await client.call('GET', '/keys')).body.keys[0].label).toBe('gate');
  expect((await client.call('PATCH', path, { label: null })).body).toMatchObject({ label: null });
  expect((await client.call('PATCH', path, {})).status).toBe(422);
});

describe('revoking a key', () => {
  test('a revocation takes effect immediately and returns its time', async () => {
    const other = await createClientFor(world);
    const answer = await client.call('DELETE', `/keys/${findId(other)}`);
    expect(answer).toMatchObject({ status: 200, body: { revoked_at: '2026-03-01T12:00:00.000Z' } });
    expect(await works(other.key)).toBe(false);
    world.advance(10);
    const again = await client.call('DELETE', `/keys/${findId(other)}`);
    expect(again.body).toEqual(answer.body);
  });

  test('a revocation stays in effect on a clock that is set back', async () => {
    const steadyNow = new Date(world.clock.now.getTime() + 1000);
    world.c.steadyNow = () => steadyNow;
    const app = await createClientFor(world);
    await client.call('DELETE', `/keys/${findId(app)}`);
    world.advance(-3600);
    expect(await works(app.key)).toBe(false);
  });

  test('a key can revoke itself, so that a leaked key can be ended with itself', async () => {
    expect((await client.call('DELETE', `/keys/${findId(client)}`)).status).toBe(200);
    expect(await works(client.key)).toBe(false);
  });

  test('an admin key can only be revoked by another one, so that one always remains', async () => {
    const admin = await createAdminClient();
    expect(await admin.call('DELETE', `/keys/${findId(admin)}`)).toMatchObject(forbidden);
    expect(await works(admin.key)).toBe(true);
    const second = await createAdminClient();
    expect((await second.call('DELETE', `/keys/${findId(admin)}`)).status).toBe(200);
    expect(await works(admin.key)).toBe(false);
  });

  test('a key cannot revoke a key with more scopes', async () => {
    const stronger = await createClientFor(world, ['jobs', 'internal']);
    expect(await client.call('DELETE', `/keys/${findId(stronger)}`)).toMatchObject(forbidden);
    expect(await client.call('PATCH', `/keys/${findId(stronger)}`, { label: 'x' })).toMatchObject(forbidden);
    expect(await works(stronger.key)).toBe(true);
  });

  test('keys of other callers return 404, except for an admin', async () => {
    const other = await createClientFor(world, ['jobs'], 'airport');
    const path = `/keys/${findId(other)}`;
    expect(await client.call('DELETE', path)).toMatchObject(notFound);
    expect(await client.call('PATCH', path, { label: 'x' })).toMatchObject(notFound);
    expect(await client.call('POST', `${path}/rotate`)).toMatchObject(notFound);
    expect(await client.call('DELETE', '/keys/nonsense')).toMatchObject(notFound);
    expect((await (await createAdminClient()).call('DELETE', path)).status).toBe(200);
  });
});

describe('rotating a key', () => {
  test('a rotation creates a successor of the same kind, and the old key stays valid for an hour', async () => {
    await client.call('PATCH', `/keys/${findId(client)}`, { label: 'gate' });
    const { status, body } = await client.call('POST', `/keys/${findId(client)}/rotate`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      caller: 'harbour',
      scopes: ['jobs', 'keys'],
      label: 'gate',
      revoked_at: null,
      replaces: { key_id: findId(client), revoked_at: '2026-03-01T13:00:00.000Z' },
    });
    expect(await works(body.key)).toBe(true);
    world.advance(3599);
    expect(await works(client.key)).toBe(true);
    world.advance(1);
    expect(await works(client.key)).toBe(false);
    expect(await works(body.key)).toBe(true);
  });

  test('a rotation without grace revokes the old key immediately', async () => {
    await client.call('POST', `/keys/${findId(client)}/rotate?grace_seconds=0`);
    expect(await works(client.key)).toBe(false);
  });

  test('an old key in its grace period can be revoked', async () => {
    const { body } = await client.call('POST', `/keys/${findId(client)}/rotate`);
    await clientWith(world, body.key).call('DELETE', `/keys/${findId(client)}`);
    expect(await works(client.key)).toBe(false);
  });

  test('an admin key can rotate itself', async () => {
    const admin = await createAdminClient();
    const { body } = await admin.call('POST', `/keys/${findId(admin)}/rotate?grace_seconds=0`);
    expect((await clientWith(world, body.key).call('GET', '/callers')).status).toBe(200);
  });

  test('a rotation grants no additional scopes, not even to an admin', async () => {
    const stronger = await createClientFor(world, ['jobs', 'internal']);
    const path = `/keys/${findId(stronger)}/rotate`;
    expect(await client.call('POST', path)).toMatchObject(forbidden);
    const admin = await createClientFor(world, ['jobs', 'admin']);
    expect(await admin.call('POST', path)).toMatchObject(forbidden);
  });

  test('a revoked key cannot be rotated', async () => {
    const other = await createClientFor(world);
    await client.call('DELETE', `/keys/${findId(other)}`);
    expect(await client.call('POST', `/keys/${findId(other)}/rotate`)).toMatchObject({ status: 400 });
  });
});

describe('callers', () => {
  test('callers are created once, and listed by name and page by page', async () => {
    const admin = await createAdminClient();
    const made = await admin.call('POST', '/callers', { caller: 'harbour', label: 'Port of Kiel' });
    expect(made).toMatchObject({
      status: 200,
      body: { caller: 'harbour', label: 'Port of Kiel', created_at: '2026-03-01T12:00:00.000Z' },
    });
    const again = await admin.call('POST', '/callers', { caller: 'harbour', label: 'another' });
    expect(again.body).toEqual(made.body);
    for (const caller of ['zoo', 'airport']) await admin.call('POST', '/callers', { caller });

    const first = (await admin.call('GET', '/callers?limit=2')).body;
    expect(first.callers.map(({ caller }: { caller: string }) => caller)).toEqual(['airport', 'harbour']);
    expect(first.next_after).toBe('harbour');
    const rest = (await admin.call('GET', '/callers?limit=2&after=harbour')).body;
    expect(rest).toMatchObject({ callers: [{ caller: 'zoo' }], next_after: null });
    expect(JSON.stringify(first)).not.toContain('webhook');
  });
});
