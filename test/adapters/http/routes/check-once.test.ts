import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createApp } from '../../../../adapters/http/app.ts';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { createClientFor } from '../../../support/api/api-client.ts';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';
import { changingEach } from '../../../support/scripted-model.ts';
import { anyCondition } from '../../../../core/ports/vision-model.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
let captured: CaptureRequest[];

beforeEach(async () => {
  world = createWorld({ captureTimeoutSeconds: 0.05 });
  call = await createHttpCaller(world);
  captured = [];
  const { capture } = world.c.streams;
  world.c.streams.capture = (request, signal) => {
    captured.push(request);
    return capture(request, signal);
  };
});

const request = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship enters the lock' };
const check = (fields = {}) => call('POST', '/check-once', { ...request, ...fields });

describe('POST /check-once', () => {
  test('a check returns verdict and latency, without the frame, and the time of the model in a header', async () => {
    const { judge } = world.c.vision;
    world.c.vision.judge = (...given) => {
      world.advance(1.234);
      return judge(...given);
    };
    world.script.verdicts.push(true);
    const { status, body, headers } = await check();
    expect(status).toBe(200);
    expect(body).toEqual({ triggered: true, explanation: 'It is there.', latency_ms: 1234 });
    expect(headers.get('watchpost-model-milliseconds')).toBe('1234');
  });

  test.each([
    [{ conditon: 'x' }, 'Ignored: conditon.'],
    [
      { include_frames: true, 'farbe\u00df\n': 1 },
      'Ignored: include_frames, farbe??; did you mean include_frame?',
    ],
    [{}, null],
  ])('a check with %j names ignored fields in a header, since the body is fixed', async (fields, notice) => {
    const { status, headers } = await check(fields);
    expect(status).toBe(200);
    expect(headers.get('watchpost-notice')).toBe(notice);
  });

  test('a check whose client disconnects calls no model', async () => {
    const { key } = await createClientFor(world);
    const client = new AbortController();
    world.c.streams.probe = async (url) => {
      client.abort();
      return { platform: 'hls', playbackUrl: url };
    };
    const judge = vi.spyOn(world.c.vision, 'judge');
    await createApp(world.c).request('/api/check-once', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal: client.signal,
    });
    expect(captured).toEqual([]);
    expect(judge).not.toHaveBeenCalled();
    expect(world.logged).not.toContain('Request failed');
  });

  test('a check returns model and token usage in headers, since the body is fixed', async () => {
    const { headers } = await check();
    const { provider, model } = world.c.vision;
    expect(Object.fromEntries(headers)).toMatchObject({
      'watchpost-model-provider': provider,
      'watchpost-model': model,
      'watchpost-input-tokens': expect.stringMatching(/^\d+$/),
      'watchpost-output-tokens': expect.stringMatching(/^\d+$/),
    });
  });

  test('a check returns the boxes of its objects in a header, and none without boxes', async () => {
    const { judge } = world.c.vision;
    const boxes = [{ label: 'boat', score: 0.7, x: 0.1, y: 0.2, width: 0.3, height: 0.4 }];
    world.c.vision.judge = changingEach(judge, { boxes });
    const { headers, body } = await check();
    expect(JSON.parse(headers.get('watchpost-boxes') ?? '')).toEqual(boxes);
    expect(Object.keys(body)).toEqual(['triggered', 'explanation', 'latency_ms']);
    world.c.vision.judge = judge;
    expect((await check()).headers.get('watchpost-boxes')).toBeNull();
  });

  test('the returned frame is the one that the boxes are of, also if it is of the clip', async () => {
    const { judge } = world.c.vision;
    world.c.vision.judge = changingEach(judge, { shown_at_seconds: 1.5 });
    world.c.cutFrame = async (clip, atSeconds) => new Uint8Array([...clip, 10 * atSeconds]);
    world.script.captures.push({ clip: new Uint8Array([7]) });
    const { body } = await check({ include_frame: true, input_mode: 'clip' });
    expect([...Buffer.from(body.frame_b64, 'base64')]).toEqual([7, 15]);
  });

  test('a check uses one frame unless another mode is requested', async () => {
    await check();
    await check({ input_mode: 'hybrid', clip_duration_seconds: 7 });
    expect(captured).toMatchObject([
      { mode: 'frames', clipSeconds: 3 },
      { mode: 'hybrid', clipSeconds: 7 },
    ]);
  });

  test('a check in clip mode passes the clip to the model', async () => {
    const shown: unknown[] = [];
    const { judge } = world.c.vision;
    world.c.vision.judge = (look, ...rest) => {
      shown.push(look);
      return judge(look, ...rest);
    };
    world.script.captures.push({ clip: new Uint8Array([1, 2, 3]) });
    await check({ input_mode: 'clip' });
    expect(shown).toMatchObject([{ mode: 'clip', clip: new Uint8Array([1, 2, 3]) }]);
  });

  test.each([
    ['frames', 'Failed to capture frame from stream'],
    ['clip', 'Failed to capture video clip from stream'],
  ])(
    'a stream that is too slow for %s is a failed capture, no fault of the service',
    async (mode, message) => {
      world.c.streams.capture = (_, signal) => hangUntil(signal);
      expect(await check({ input_mode: mode })).toMatchObject({
        status: 400,
        body: { error: { code: 'STREAM_FETCH_FAILED', message } },
      });
    },
  );

  test.each(['clip', 'hybrid'])('the mode %s is rejected by a model without video support', async (mode) => {
    Object.assign(world.c.vision, { capabilities: anyCondition });
    expect(await check({ input_mode: mode })).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_INPUT_MODE', remediation: expect.stringContaining('frames') } },
    });
    expect((await check()).status).toBe(200);
  });

  test('a failed model call returns 500 VLM_ERROR', async () => {
    world.script.verdicts = [new VisionError('Try again.')] as never;
    expect(await check()).toMatchObject({
      status: 500,
      body: { error: { code: 'VLM_ERROR', message: 'Vision model analysis failed' } },
    });
  });
});

describe('call limits', () => {
  test('the 121st call in a minute is rejected with the time to wait, and accepted after it', async () => {
    for (let made = 0; made < 60; made += 1) {
      await check();
      await call('POST', '/streams/validate', { stream_url: request.stream_url });
    }
    world.advance(20);
    const refused = await check();
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED', remediation: expect.stringContaining('40 s') } },
    });
    expect(refused.headers.get('retry-after')).toBe('40');
    world.advance(40);
    expect((await check()).status).toBe(200);
  });

  test('the eleventh concurrent call is rejected, and other callers are not affected', async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => (finish = resolve));
    const { probe } = world.c.streams;
    world.c.streams.probe = async (...given) => {
      await held;
      return probe(...given);
    };
    const other = await createHttpCaller(world, 'airport');
    const all = Array.from({ length: 11 }, () => check());
    const another = other('POST', '/check-once', request);
    const eleventh = await Promise.race(all);
    expect(eleventh).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
    finish();
    const statuses = (await Promise.all([...all, another])).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 11 }, () => 200), 429]);
    expect((await check()).status).toBe(200);
  });

  test('the creation of a job counts as a call, and a replay does not', async () => {
    const create = (key: string) =>
      call('POST', '/live-monitor', request, { 'idempotency-key': key }).then(async (reply) => {
        if (reply.status === 200) await call('DELETE', `/jobs/${reply.body.job_id}`).catch(() => undefined);
        return reply;
      });
    for (let made = 0; made < 120; made += 1) await create(`job ${made}`);
    expect(await create('one more')).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED' } },
    });
    expect((await check()).status).toBe(429);
    expect((await create('job 7')).status).toBe(200);
  });

  test('a request that does not fit the schema does not count as a call', async () => {
    for (let made = 0; made < 125; made += 1) await check({ condition: '' });
    expect((await check()).status).toBe(200);
  });
});

function hangUntil(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}
