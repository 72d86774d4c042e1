import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { NotLiveError, StreamFetchError, TransientError } from '../../../core/errors.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

const monitor = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship enters the lock' };
const create = (fields: object) => call('POST', '/live-monitor', { ...monitor, ...fields });
const firstDetail = async (body: unknown) => {
  const reply = await call('POST', '/live-monitor', body);
  expect(reply.status).toBe(422);
  return reply.body.detail[0];
};

describe('routes', () => {
  test('unknown routes return 404', async () => {
    for (const path of ['/nowhere', '/jobs/', '//jobs', '/jobs/a/b/c', '/constructor', '/__proto__'])
      expect(await call('GET', path), path).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND' } },
      });
  });

  test.each([
    ['PUT', '/jobs', 'GET, HEAD'],
    ['GET', '/live-monitor', 'POST'],
    ['PATCH', '/check-once', 'POST'],
    ['POST', '/jobs/11111111-1111-1111-1111-111111111111', 'GET, HEAD, DELETE'],
    ['DELETE', '/streams/validate', 'POST'],
  ])('a route that does not support %s %s returns the supported methods', async (method, path, allow) => {
    const reply = await call(method, path);
    expect(reply).toMatchObject({
      status: 405,
      body: { error: { code: 'METHOD_NOT_ALLOWED', message: expect.stringContaining(method) } },
    });
    expect(reply.headers.get('allow')).toBe(allow);
  });

  test('OPTIONS returns the supported methods of a route', async () => {
    const reply = await call('OPTIONS', '/live-monitor');
    expect([reply.status, reply.headers.get('allow'), reply.body]).toEqual([204, 'POST', undefined]);
    expect((await call('OPTIONS', '/nowhere')).status).toBe(404);
  });

  test('HEAD returns the response of GET without a body', async () => {
    const reply = await call('HEAD', '/jobs');
    expect([reply.status, reply.headers.get('content-type'), reply.body]).toEqual([
      200,
      'application/json',
      undefined,
    ]);
  });

  test('routes are hidden from requests without a key', async () => {
    for (const path of ['/nowhere', '/jobs'])
      expect((await call('PUT', path, undefined, { authorization: '' })).status).toBe(401);
  });
});

test.each([
  [new NotLiveError('Give a live URL.'), 400, 'NOT_LIVESTREAM', 'URL is not a live stream'],
  [new StreamFetchError('Try again.'), 400, 'STREAM_FETCH_FAILED', 'Failed to fetch stream'],
  [new TransientError('disk full at /secret/path'), 500, 'INTERNAL_ERROR', 'Internal server error'],
  [new Error('boom at 10.0.0.1'), 500, 'INTERNAL_ERROR', 'Internal server error'],
])('the error %s becomes the error envelope', async (error, status, code, message) => {
  world.script.probe = error;
  const answer = await create({});
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({ error: { code, message, remediation: expect.stringMatching(/\w+/) } });
  expect(JSON.stringify(answer.body)).not.toMatch(/secret|10\.0/);
});

test('every response, also an error, forbids browsers to guess its type', async () => {
  const sniffed = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const reply = await call(method, path, body, headers);
    return [reply.status, reply.headers.get('x-content-type-options')];
  };
  expect(await sniffed('GET', '/jobs')).toEqual([200, 'nosniff']);
  expect(await sniffed('GET', '/jobs', undefined, { authorization: '' })).toEqual([401, 'nosniff']);
  expect(await sniffed('GET', '/metrics')).toEqual([403, 'nosniff']);
  expect(await sniffed('GET', '/nowhere')).toEqual([404, 'nosniff']);
  expect(await sniffed('POST', '/live-monitor', {})).toEqual([422, 'nosniff']);
  world.c.jobs.list = async () => {
    throw new Error('defect');
  };
  expect(await sniffed('GET', '/jobs')).toEqual([500, 'nosniff']);
});

describe('bodies', () => {
  test('a body that does not end returns 413', async () => {
    expect(await endless()).toBe(413);
  });

  async function endless(): Promise<number> {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        if (sent > 1000) throw new Error('read on and on');
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    return (await call('POST', '/live-monitor', body, { 'transfer-encoding': 'chunked' })).status;
  }

  test.each(['gzip', 'br', 'GZIP, identity', 'nonsense'])(
    'a body encoded as %s is rejected with a remediation',
    async (encoding) => {
      const reply = await call('POST', '/live-monitor', gzipSync(JSON.stringify(monitor)), {
        'content-encoding': encoding,
      });
      expect(reply).toMatchObject({
        status: 400,
        body: { error: { code: 'BAD_REQUEST', remediation: expect.stringContaining('Content-Encoding') } },
      });
    },
  );

  test('a body encoded as identity is read', async () => {
    expect((await call('POST', '/live-monitor', monitor, { 'content-encoding': 'identity' })).status).toBe(
      200,
    );
  });

  test.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('a body of nested %s is read up to 64 levels, and refused beyond', async (open, close) => {
    const nest = (levels: number) =>
      `${open.repeat(levels)}${open === '[' ? '' : '1'}${close.repeat(levels)}`;
    const deep = nest(60);
    expect((await firstDetail(`{"stream_url":${deep}}`)).type).toBe('invalid_type');
    expect((await firstDetail(`{"condition":"x","unknown":${deep}}`)).type).toBe('missing');
    expect(await firstDetail(deep)).toMatchObject({ loc: open === '[' ? ['body'] : ['body', 'stream_url'] });
    expect(
      (await call('POST', '/live-monitor', `{"unknown":${deep},${JSON.stringify(monitor).slice(1)}`)).status,
    ).toBe(200);
    const excess = { type: 'json_invalid', msg: 'Too many levels or values' };
    for (const body of [nest(5000), `{"unknown":${nest(64)}}`, open.repeat(5000)])
      expect(await firstDetail(body)).toMatchObject(excess);
  });

  test('a body that is not UTF-8 is invalid JSON', async () => {
    const bytes = Buffer.concat([Buffer.from('{"condition":"é'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(await firstDetail(bytes)).toMatchObject({
      type: 'json_invalid',
      loc: ['body'],
      msg: 'Invalid UTF-8',
    });
  });

  test('a text of many partial matches is repeated unchanged', async () => {
    expect((await firstDetail({ stream_url: 'a-'.repeat(2000) })).input).toMatch(/^(a-)+…$/);
  });

  test('a body with NUL characters is stored unchanged', async () => {
    const { body } = await create({ condition: 'a\u0000b' });
    expect((await call('GET', `/jobs/${body.job_id}`)).body.config.condition).toBe('a\u0000b');
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'a body with a field %s has no effect',
    async (name) => {
      const hostile = `{"${name}":{"condition":"from afar","interval_seconds":7},${JSON.stringify(monitor).slice(1)}`;
      const { status, body } = await call('POST', '/live-monitor', hostile);
      expect(status).toBe(200);
      expect(body.details).toMatchObject({ condition: monitor.condition, interval_seconds: 10 });
      expect((await firstDetail(`{"${name}":{"stream_url":"x"},"condition":"x"}`)).type).toBe('missing');
      expect(Object.prototype).not.toHaveProperty('condition');
    },
  );

  test.each(['1e999', '-1e999', '1e300', '-9007199254740993', '9007199254740993'])(
    'a body with %s for an integer is rejected',
    async (value) => {
      const text = `{"interval_seconds":${value},${JSON.stringify(monitor).slice(1)}`;
      expect((await firstDetail(text)).loc).toEqual(['body', 'interval_seconds']);
    },
  );

  test('a duration above the number range is rejected with the limit, and a large one is clamped', async () => {
    expect(await firstDetail({ ...monitor, monitor_duration_seconds: 1e20 })).toMatchObject({
      type: 'too_big',
      msg: expect.stringContaining(`${Number.MAX_SAFE_INTEGER}`),
    });
    expect((await create({ monitor_duration_seconds: 9_007_199_254_740_991 })).body.details).toMatchObject({
      monitor_duration_seconds: 600,
    });
  });

  test('the length limit counts characters, not UTF-16 units', async () => {
    expect((await create({ condition: '😀'.repeat(1000) })).status).toBe(200);
    expect((await firstDetail({ ...monitor, condition: '😀'.repeat(1001) })).type).toBe('too_big');
    expect((await create({ condition: 'e\u0301'.repeat(500) })).status).toBe(200);
    expect((await firstDetail({ ...monitor, condition: 'e\u0301'.repeat(501) })).type).toBe('too_big');
  });

  test.each([
    'rtsp://viewer:hunter2@camera.test/',
    ' rtsp://viewer:hunter2@camera.test/',
    'rtsp:viewer:hunter2@camera.test/',
    'viewer:hunter2@camera.test/',
    'rtsp://viewer:hunt?er2@camera.test/',
    'rtsp://viewer:hun/ter2@camera.test/hunter2@',
    'https://proxy.test/rtsp://viewer:hunter2@camera.test/',
    'https://a:b@proxy.test/rtsp://viewer:hunter2@camera.test/',
    'https://cdn.test/live.m3u8?token=hunter2&',
  ])('the response does not repeat the password of %s', async (url) => {
    const texts = [
      JSON.stringify(await firstDetail({ stream_url: url.padEnd(600, 'x') })),
      JSON.stringify(await firstDetail({ stream_url: url })),
    ];
    for (const text of texts) expect(text).not.toMatch(/hunter2|hunt|ter2|er2/);
  });
});

describe('Idempotency-Key', () => {
  const keyed = (key: string, fields = {}) =>
    call('POST', '/live-monitor', { ...monitor, ...fields }, { 'idempotency-key': key });

  test('a replay returns the current state of the job', async () => {
    const { body } = await keyed('once');
    await call('DELETE', `/jobs/${body.job_id}`);
    expect(await keyed('once')).toMatchObject({
      status: 200,
      body: { job_id: body.job_id, status: 'stopped' },
    });
    expect((await call('GET', '/jobs')).body.total).toBe(1);
  });

  test('an idempotency key that another body used returns 422 for the header', async () => {
    await keyed('once');
    const { status, body } = await keyed('once', { interval_seconds: 11 });
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      {
        loc: ['header', 'Idempotency-Key'],
        type: 'custom',
        msg: expect.stringContaining('another request'),
      },
    ]);
  });

  test.each([
    ['', 'too_small'],
    ['x'.repeat(256), 'too_big'],
  ])('an idempotency key has 1 to 255 characters: %s', async (key, type) => {
    const { status, body } = await keyed(key);
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([{ loc: ['header', 'Idempotency-Key'], type }]);
  });
});
