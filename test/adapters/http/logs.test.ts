import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClientFor, internal, type ApiClient } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world, ['jobs', 'internal']);
});
afterEach(() => world.close());

const logs = (query = '') => client.call('GET', `/logs${query}`, undefined, internal);

describe('/logs', () => {
  beforeEach(() => {
    for (let index = 1; index <= 60; index += 1) {
      world.c.log.debug(`debug ${index}`);
      world.c.log.info(`info ${index}`);
    }
    world.c.log.warning('warning 1');
    world.c.log.error('error 1');
  });

  test('the log has the newest hundred entries, newest last', async () => {
    const { status, body } = await logs();
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_in_buffer: 122, returned: 100 });
    expect(body.logs).toHaveLength(100);
    expect(body.logs.at(-1)).toEqual({
      time: '2026-03-01T12:00:00.000Z',
      level: 'ERROR',
      message: 'error 1',
    });
    expect(body.logs[0].message).toBe('debug 12');
  });

  test('the log of a level has entries of that level only', async () => {
    const { body } = await logs('?level=INFO&limit=2');
    expect(body).toMatchObject({ total_in_buffer: 122, returned: 2 });
    expect(body.logs.map(({ message }: { message: string }) => message)).toEqual(['info 59', 'info 60']);
    expect((await logs('?level=WARNING')).body).toMatchObject({ returned: 1, logs: [{ level: 'WARNING' }] });
    expect((await logs('?level=ERROR')).body).toMatchObject({ returned: 1, logs: [{ level: 'ERROR' }] });
    expect((await logs('?level=DEBUG&limit=500')).body.returned).toBe(60);
  });

  test.each([
    ['?level=error', { type: 'invalid_value', loc: ['query', 'level'] }],
    ['?limit=0', { type: 'too_small' }],
    ['?limit=501', { type: 'too_big' }],
    ['?limit=all', { type: 'invalid_type', loc: ['query', 'limit'] }],
  ])('the query %s returns 422', async (query, detail) => {
    expect(await logs(query)).toMatchObject({ status: 422, body: { detail: [detail] } });
  });
});

test('entries about a job begin with the first eight characters of its id', async () => {
  const { body: job } = await client.call('POST', '/live-monitor', {
    stream_url: 'https://example.com/live.m3u8',
    condition: 'a ship',
  });
  await world.tick(await world.begin({ run_id: job.job_id, generation: 0 }));
  await client.call('DELETE', `/jobs/${job.job_id}`);
  const prefix = `[JOB:${job.job_id.slice(0, 8)}] `;
  const { body } = await logs();
  const messages = body.logs.map(({ message }: { message: string }) => message);
  expect(messages).not.toHaveLength(0);
  expect(messages.every((message: string) => message.startsWith(prefix))).toBe(true);
  expect(messages.join('\n')).toMatch(/Job accepted .*\n.*Job started .*\n.*Tick committed .*\n.*Job ended /);
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
  const text = JSON.stringify((await logs()).body);
  expect(text).toContain('camera.test');
  expect(text).toContain('Request failed');
  for (const hidden of ['s3cret', client.key, client.key.slice(11), secret.slice(6)])
    expect(text).not.toContain(hidden);
});
