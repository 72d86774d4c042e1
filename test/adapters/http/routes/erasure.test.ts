import { beforeEach, expect, test } from 'vitest';
import { newCaller } from '../../../../core/records/caller.ts';
import { createClientFor } from '../../../support/api/api-client.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
beforeEach(async () => {
  world = createWorld();
  for (const name of ['canal', 'ops']) await world.c.callers.add(newCaller(name, null, world.c.now()));
});

const monitor = { stream_url: 'https://cameras.example/live.m3u8', condition: 'A ship' };

test('an admin erases a caller, whose keys are rejected and whose jobs are gone', async () => {
  const canal = await createClientFor(world, ['jobs'], 'canal');
  const { job_id } = (await canal.call('POST', '/live-monitor', monitor)).body;
  const admin = await createClientFor(world, ['admin'], 'ops');

  const { status, body } = await admin.call('DELETE', '/callers/canal');

  expect([status, body]).toEqual([
    200,
    { caller: 'canal', complete: true, keys: 1, jobs: 1, watches: 0, media: 0 },
  ]);
  expect((await canal.call('GET', `/jobs/${job_id}`)).status).toBe(401);
  expect((await admin.call('GET', '/callers')).body.callers).toMatchObject([{ caller: 'ops' }]);
  expect((await admin.call('DELETE', '/callers/canal')).status).toBe(404);
});

test('a new caller of the same name sees nothing of the erased one', async () => {
  await (await createClientFor(world, ['jobs'], 'canal')).call('POST', '/live-monitor', monitor);
  const admin = await createClientFor(world, ['admin'], 'ops');
  await admin.call('DELETE', '/callers/canal');
  await admin.call('POST', '/callers', { caller: 'canal' });
  const canal = await createClientFor(world, ['jobs'], 'canal');
  expect((await canal.call('GET', '/jobs')).body.total).toBe(0);
  expect((await canal.call('GET', '/usage')).body.callers).toMatchObject([{ model_calls: 0 }]);
});

test('a key without the scope admin, and a key of the caller itself, erase nothing', async () => {
  const keys = await createClientFor(world, ['keys'], 'ops');
  expect((await keys.call('DELETE', '/callers/canal')).status).toBe(403);
  const own = await createClientFor(world, ['admin'], 'canal');
  const { status, body } = await own.call('DELETE', '/callers/canal');
  expect([status, body.error.remediation]).toEqual([403, expect.stringContaining('another caller')]);
  expect((await own.call('GET', '/me')).status).toBe(200);
});

test.each(['nobody', 'no%20name', 'x'.repeat(65)])('the caller %s does not exist', async (caller) => {
  const admin = await createClientFor(world, ['admin'], 'ops');
  expect([404, 422]).toContain((await admin.call('DELETE', `/callers/${caller}`)).status);
});

test.each([
  ['/live-monitor', monitor],
  ['/watches', { name: 'gate', stream_url: monitor.stream_url, conditions: [{ condition: 'A ship' }] }],
])('a creation by POST %s ends with its caller, also during its probe', async (path, body) => {
  const canal = await createClientFor(world, ['jobs'], 'canal');
  const admin = await createClientFor(world, ['admin'], 'ops');
  const probe = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const { streams } = world.c;
  world.c.streams = {
    ...streams,
    probe: async (...call) => {
      began.resolve();
      await probe.promise;
      return streams.probe(...call);
    },
  };
  const creation = canal.call('POST', path, body);
  await began.promise;
  expect((await admin.call('DELETE', '/callers/canal')).body).toMatchObject({ complete: true, keys: 1 });
  probe.resolve();

  expect((await creation).status).toBe(401);
  expect(await world.c.eraser.listWork('canal', 10)).toEqual([]);
  expect(world.executions.size).toBe(0);
});
