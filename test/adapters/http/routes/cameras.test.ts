import { beforeEach, expect, test } from 'vitest';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

const camera = { address: '192.168.1.20', username: 'watcher', password: 'pass' };

test('the cameras of the network are listed', async () => {
  expect(await call('GET', '/cameras')).toMatchObject({
    status: 200,
    body: { cameras: [{ address: '192.168.1.20', name: 'Gate', hardware: null }] },
  });
});

test('the streams of a camera are read with its password, which is in no response and no log', async () => {
  const { status, body } = await call('POST', '/cameras/streams', camera);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { profiles: [{ stream_url: 'rtsp://192.168.1.20/main' }], clock_offset_seconds: 2 },
  });
  const refused = await call('POST', '/cameras/streams', { ...camera, password: 'hunter-22' });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'STREAM_FETCH_FAILED' } } });
  const invalid = [
    { ...camera, address: '', password: 'hunter-22' },
    { username: 'watcher', password: 'hunter-22' },
    { ...camera, password: ['hunter-22'] },
    { ...camera, password: `hunter-22${'x'.repeat(200)}` },
  ];
  for (const request of invalid) {
    const response = await call('POST', '/cameras/streams', request);
    expect(response.status).toBe(422);
    expect(JSON.stringify(response.body)).not.toContain('hunter-22');
  }
  expect(world.logged.join('\n')).not.toContain('hunter-22');
});

test('a service that cannot reach cameras answers 404 with the setting, and says so in GET /service', async () => {
  expect((await call('GET', '/service')).body.discovers_cameras).toBe(true);
  delete world.c.cameras;
  expect((await call('GET', '/service')).body.discovers_cameras).toBe(false);
  for (const response of [await call('GET', '/cameras'), await call('POST', '/cameras/streams', camera)])
    expect(response).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND', remediation: expect.stringContaining('WATCHPOST_ALLOW_RANGES') } },
    });
});

test('a key without the scope jobs discovers nothing', async () => {
  const reader = await createHttpCaller(world, 'harbour', ['read']);
  expect((await reader('GET', '/cameras')).status).toBe(403);
  expect((await reader('POST', '/cameras/streams', camera)).status).toBe(403);
});
