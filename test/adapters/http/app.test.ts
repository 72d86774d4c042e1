import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { NotLiveError, StreamFetchError, TransientError } from '../../../core/errors.ts';
import type { Scope } from '../../../core/records/key.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  key = await keyFor('harbour');
});
afterEach(() => world.close());

async function keyFor(caller: string, scopes: Scope[] = ['jobs']): Promise<string> {
  const minted = mintKey({ caller, scopes, label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  return minted.text;
}

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await createApp(world.c).request(`/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

const monitor = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship enters the lock' };
const create = async (fields = {}) => (await call('POST', '/live-monitor', { ...monitor, ...fields })).body;

describe('POST /live-monitor', () => {
  test('a monitor without a webhook is created immediately in polling mode', async () => {
    const { status, body } = await call('POST', '/live-monitor', monitor);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'pending',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      stream_url: monitor.stream_url,
      job_type: 'live-monitor',
      details: { delivery: 'polling', interval_seconds: 10, max_triggers: 1, enable_prefilter: true },
    });
  });

  test('a monitor with webhook_url is in webhook mode', async () => {
    expect(await create({ webhook_url: 'https://example.com/hook' })).toMatchObject({
      details: { delivery: 'webhook' },
    });
  });

  test('a body accepts integral numbers, decimal strings and names of booleans, and ignores unknown fields', async () => {
    const job = await create({
      interval_seconds: '15',
      max_triggers: null,
      enable_prefilter: 'False',
      color: 'green',
    });
    expect(job.details).toMatchObject({ interval_seconds: 15, max_triggers: null, enable_prefilter: false });
  });

  test.each([
    [new NotLiveError('Give a live URL.'), 400, 'NOT_LIVESTREAM', 'URL is not a live stream'],
    [new StreamFetchError('Try again.'), 400, 'STREAM_FETCH_FAILED', 'Failed to fetch stream'],
    [new TransientError('disk full at /secret/path'), 500, 'INTERNAL_ERROR', 'Internal server error'],
    [new Error('boom at 10.0.0.1'), 500, 'INTERNAL_ERROR', 'Internal server error'],
  ])('the error %s becomes the error envelope', async (error, status, code, message) => {
    world.script.probe = error;
    const answer = await call('POST', '/live-monitor', monitor);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: { code, message, remediation: expect.stringMatching(/\w+/) } });
    expect(JSON.stringify(answer.body)).not.toMatch(/secret|10\.0/);
  });

  test('the eleventh active job returns 429', async () => {
    for (let made = 0; made < 10; made += 1) await create();
    expect(await call('POST', '/live-monitor', monitor)).toMatchObject({
      status: 429,
      body: { error: { code: 'MAX_JOBS_REACHED' } },
    });
  });
});

describe('422 bodies', () => {
  const detail = async (fields: Record<string, unknown>) => {
    const { status, body } = await call('POST', '/live-monitor', { ...monitor, ...fields });
    expect(status).toBe(422);
    return body.detail;
  };

  test('a 422 body names every invalid field', async () => {
    const all = await detail({ stream_url: undefined, condition: 1, interval_seconds: 1 });
    expect(all.map(({ loc }: { loc: string[] }) => loc[1])).toEqual([
      'stream_url',
      'condition',
      'interval_seconds',
    ]);
  });

  test('a 422 body never contains a password', async () => {
    const all = await detail({
      stream_url: `rtsp://viewer:hunter2@camera.test/${'x'.repeat(500)}`,
      condition: undefined,
    });
    expect(JSON.stringify(all)).not.toContain('hunter2');
  });
});

describe('jobs', () => {
  test('jobs are listed newest first, filtered and paged, with their total', async () => {
    for (let made = 0; made < 3; made += 1) {
      await create({ condition: `number ${made}` });
      world.advance(1);
    }
    const { body } = await call('GET', '/jobs?limit=2&offset=1&status=pending&job_type=live-monitor');
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 1 });
    expect(body.jobs.map(({ details }: { details: { condition: string } }) => details.condition)).toEqual([
      'number 1',
      'number 0',
    ]);
    expect((await call('GET', '/jobs?status=failed')).body).toMatchObject({ jobs: [], total: 0 });
  });

  test('jobs are read with config and stats', async () => {
    const { job_id: jobId } = await create();
    const step = await world.begin({ run_id: jobId, generation: 0 });
    world.script.verdicts.push(true);
    await world.tick(step);
    const { body } = await call('GET', `/jobs/${jobId}`);
    expect(body).toMatchObject({
      job_id: jobId,
      status: 'completed',
      config: { condition: monitor.condition },
      stats: {
        reason: 'condition_triggered',
        checks_performed: 1,
        triggers_fired: 1,
        frames_skipped: 0,
        auto_stopped: false,
      },
    });
    const [{ data }] = body.stats.triggers;
    const picture = await createApp(world.c).request(new URL(data.frame_url).pathname, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(picture.headers.get('content-type')).toBe('image/jpeg');
    expect(new Uint8Array(await picture.arrayBuffer()).subarray(0, 2)).toEqual(new Uint8Array([255, 216]));
  });

  test('the event log of a job is read page by page', async () => {
    const { job_id: jobId } = await create();
    const step = await world.begin({ run_id: jobId, generation: 0 });
    world.script.verdicts.push(true);
    await world.tick(step);
    const first = (await call('GET', `/jobs/${jobId}/events?limit=2`)).body;
    expect(first).toMatchObject({
      next_after: 2,
      has_more: true,
      events: [{ type: 'job_started' }, { type: 'progress' }],
    });
    const rest = (await call('GET', `/jobs/${jobId}/events?after=2`)).body;
    expect(rest).toMatchObject({
      next_after: 4,
      has_more: false,
      events: [{ type: 'watch_triggered' }, { type: 'job_stopped' }],
    });
    expect(rest.events[0]).toMatchObject({
      source_url: monitor.stream_url,
      data: { job_id: jobId, sequence: 3 },
    });
  });

  test('jobs are cancelled once', async () => {
    const { job_id: jobId } = await create();
    expect((await call('DELETE', `/jobs/${jobId}`)).body).toMatchObject({
      job_id: jobId,
      status: 'stopped',
      final_stats: { reason: 'cancelled' },
    });
    expect(await call('DELETE', `/jobs/${jobId}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'JOB_ALREADY_STOPPED', message: 'Job is already stopped' } },
    });
  });

  test.each(['GET', 'DELETE'])('jobs of other callers return 404 to %s, as if absent', async (method) => {
    const { job_id: jobId } = await create();
    key = await keyFor('somebody else');
    const absent = await call(method, '/jobs/11111111-1111-1111-1111-111111111111');
    expect(await call(method, `/jobs/${jobId}`)).toMatchObject({ status: 404, body: absent.body });
    expect(absent.body.error).toMatchObject({ code: 'JOB_NOT_FOUND', message: 'Job not found' });
  });
});

describe('keys', () => {
  test.each([
    ['no header', {}],
    ['no scheme', { authorization: 'KEY' }],
    ['two spaces', { authorization: 'Bearer  KEY' }],
    ['another scheme', { authorization: 'Basic KEY' }],
    ['another header', { 'x-api-key': 'KEY' }],
    ['an unknown key', { authorization: `Bearer wp_${'a'.repeat(49)}` }],
  ])('a request with %s returns 401 with the envelope', async (_, headers: Record<string, string>) => {
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', key)]),
    );
    const response = await createApp(world.c).request('/api/jobs', { headers: own });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { code: 'UNAUTHORIZED', remediation: expect.stringContaining('Bearer') },
    });
  });

  test('a revoked key is rejected immediately', async () => {
    expect((await call('GET', '/jobs')).status).toBe(200);
    await world.c.keys.revoke(world.c.sha256(key), world.c.now());
    expect((await call('GET', '/jobs')).status).toBe(401);
  });

  test('a missing key is reported before the schema, so that strangers learn nothing', async () => {
    key = 'nothing';
    expect((await call('POST', '/live-monitor', '{')).status).toBe(401);
  });
});

test('unknown routes return 404 and oversized bodies 413, with the envelope', async () => {
  expect(await call('GET', '/nowhere')).toMatchObject({
    status: 404,
    body: { error: { code: 'NOT_FOUND' } },
  });
  expect(await call('POST', '/live-monitor', 'x'.repeat(32_001))).toMatchObject({
    status: 413,
    body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
  });
});
