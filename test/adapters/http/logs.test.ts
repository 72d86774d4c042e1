import { beforeEach, expect, test } from 'vitest';
import { createClientFor, internal, type ApiClient } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world, ['jobs', 'internal']);
});

test('the log contains no secret of a request or a failure', async () => {
  const secret = await world.c.signer.secret('harbour');
  const said = `rtsp://viewer:s3cret@camera.test/yard ${client.key} ${secret} Bearer ${client.key}`;
  world.script.probe = new Error(`ffmpeg: cannot open ${said}`);
  await client.call('POST', '/live-monitor', {
    stream_url: 'rtsp://viewer:s3cret@camera.test/yard',
    condition: 'a ship',
    webhook_url: 'https://hook:s3cret@example.com/?token=s3cret',
  });
  world.script.probe = undefined;
  await client.call('POST', '/live-monitor', {
    stream_url: 'rtsp://viewer:s3cret@camera.test/yard',
    condition: 'a ship',
  });
  const text = JSON.stringify((await client.call('GET', '/logs', undefined, internal)).body);
  expect(text).toContain('camera.test');
  expect(text).toContain('Request failed');
  for (const hidden of ['s3cret', client.key, client.key.slice(11), secret.slice(6)])
    expect(text).not.toContain(hidden);
});
