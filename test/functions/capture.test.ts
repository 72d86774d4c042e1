import { beforeEach, describe, expect, test } from 'vitest';
import { InvocationError, type Invoke } from '../../adapters/aws/invoke/invoke.ts';
import {
  createRemoteCapturer,
  createRemoteContactSheets,
  createRemoteMakeClip,
  createRemoteResize,
} from '../../adapters/aws/invoke/remote-capture.ts';
import {
  InvalidUrlError,
  NotLiveError,
  StreamEndedError,
  StreamFetchError,
  TransientError,
} from '../../core/errors.ts';
import { VisionError } from '../../core/vision-errors.ts';
import type { ClipRequest, ClipResult, MakeClip } from '../../core/records/clip.ts';
import { createMakeClip } from '../../core/watch/record-clip.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { createHandler } from '../../functions/capture/handler.ts';
import { createWorld, monitorRequest, type World } from '../support/world.ts';
import { during, lambdaContext } from './lambda-context.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const resizeJpeg = async (jpeg: Uint8Array, widthPixels: number) => Buffer.from([...jpeg, widthPixels]);
/** Clip of the stream. */
let clipOf: (request: ClipRequest) => Promise<ClipResult>;
const makeClip: MakeClip = (...input) =>
  createMakeClip({ ...world.c, streams: { clip: (request) => clipOf(request) } })(...input);
const handle = (event: unknown) =>
  createHandler({ ...world.c, resizeJpeg, makeClip, during })(event, lambdaContext());
/** Invokes the handler with JSON input and output, as Lambda does. */
const invoke: Invoke = async (payload) =>
  JSON.parse(JSON.stringify((await handle(JSON.parse(JSON.stringify(payload)))) ?? null));
const signal = new AbortController().signal;
const remote = () => createRemoteCapturer({ invoke, seconds: 20 });
const url = 'https://example.com/live.m3u8';
const request = { url, mode: 'hybrid', clipSeconds: 3, caller: 'ada', resolveAgain: false } as const;

describe('capture: workflow task', () => {
  const tick = async () => {
    const job = await createMonitor(monitorRequest(), 'harbour', world.c);
    const state = { tick: 1, closing: false, resolve_again: false, seen: null, motion: null, in_burst: true };
    return handle({ source_id: job.source_id, ...state });
  };

  test('capture captures the stream and stores frame and clip', async () => {
    const captured = await tick();

    expect(captured).toMatchObject({ kind: 'captured', moved: true, clip_key: null });
    expect([...world.pictures.keys()]).toEqual([(captured as { frame_key: string }).frame_key]);
  });

  test('capture returns a result before Lambda ends a capture that ignores its time limit', async () => {
    world.c.streams = { ...world.c.streams, capture: () => new Promise(() => undefined) };
    let delay = 0;
    const setTimer = (fire: () => void, delayMs: number) => {
      delay = delayMs;
      queueMicrotask(fire);
      return () => undefined;
    };
    const job = await createMonitor(monitorRequest(), 'harbour', {
      ...world.c,
      streams: createWorld().c.streams,
    });
    const state = { tick: 1, closing: false, resolve_again: false, seen: null, motion: null, in_burst: true };
    const handler = createHandler({ ...world.c, resizeJpeg, makeClip, during, setTimer });
    expect(await handler({ source_id: job.source_id, ...state }, lambdaContext(58_000))).toMatchObject({
      kind: 'failed',
      message: expect.any(String),
      began_at: world.clock.now.toISOString(),
    });
    expect(delay).toBe(55_000);
  });

  test('capture throws for an invalid input', async () => {
    await expect(handle({ source_id: 'x' })).rejects.toThrow();
    await expect(handle({ operation: 'shell', url })).rejects.toThrow();
  });
});

describe('capture: calls of other functions', () => {
  test('capture probes a stream', async () => {
    expect(await remote().probe(url, signal, 'ada')).toEqual({ platform: 'hls', playbackUrl: url });
  });

  test('capture returns a capture byte for byte', async () => {
    const [frame, clip] = [Buffer.from([255, 216, 0, 128]), Buffer.from([0, 0, 0, 24])];
    world.script.captures.push({ frame, clip, keyFrameSeconds: 12.5 });

    const capture = await remote().capture(request, signal);

    expect([Buffer.from(capture.frame), Buffer.from(capture.clip!)]).toEqual([frame, clip]);
    expect(capture.capturedAt).toEqual(world.clock.now);
    expect(capture.position.segment_seconds).toBe(2);
    expect(capture.keyFrameSeconds).toBe(12.5);
  });

  test('capture returns no clip if none was captured', async () => {
    expect(await remote().capture({ ...request, mode: 'frames' }, signal)).not.toHaveProperty('clip');
  });

  test('capture reports a capture above the size limit of a response as a stream error', async () => {
    world.script.captures.push({ clip: Buffer.alloc(4_700_000) });

    await expect(remote().capture(request, signal)).rejects.toThrow(StreamFetchError);
  });

  test.each([
    new InvalidUrlError('Only http, https and rtsp.'),
    new NotLiveError('It is a recording.'),
    new NotLiveError('Come back later.', 'Stream is offline'),
    new StreamEndedError(),
    new StreamFetchError('Check the camera.', 'Failed to capture frame from stream'),
    new TransientError('The disk is full'),
  ])('an error of capture keeps its class and message between functions: $message', async (error) => {
    world.script.probe = error;

    const probed = remote().probe(url, signal, 'ada');

    await expect(probed).rejects.toBeInstanceOf(error.constructor);
    const words = 'remediation' in error ? { remediation: error.remediation } : {};
    await expect(probed).rejects.toMatchObject({ message: error.message, ...words });
  });

  test('a defect in capture fails the invocation', async () => {
    world.script.probe = new TypeError('x is not a function');

    await expect(handle({ operation: 'probe', url, seconds: 5 })).rejects.toThrow(TypeError);
  });
});

describe('capture: clips', () => {
  const [from, openedAt, to] = [0, 8, 16].map((seconds) => new Date(seconds * 1000)) as [Date, Date, Date];
  const key = 'clips/7/source/alert.mp4';
  const span = { from, openedAt, to, behindSeconds: 7200 };
  const wanted = { url, caller: 'ada', mode: 'frames', regions: null, ...span, key } as const;
  const make = async (call: Invoke = invoke) =>
    createRemoteMakeClip({ invoke: call, seconds: 54 })(wanted, signal);

  test('capture stores a clip, however large, and returns what it shows', async () => {
    const film = new Uint8Array(20_000_000);
    clipOf = async ({ store, ...request }) => {
      expect(request).toEqual({ ...wanted, key: undefined });
      await store(film);
      return { kind: 'clip', bytes: film.length, from, to, codec: 'avc1' };
    };
    expect(await make()).toEqual({ kind: 'clip', bytes: film.length, from, to, codec: 'avc1' });
    expect(world.pictures.get(key)).toBe(film);
  });

  test.each<[string, ClipResult, ClipResult?]>([
    ['why there is no clip', { kind: 'none', reason: 'It is gone' }],
    ['when the stream lists it', { kind: 'pending', afterSeconds: 12 }],
  ])('capture returns a result without a clip: %s', async (_what, result) => {
    clipOf = async () => result;
    expect(await make()).toEqual(result);
  });

  test('a fault of the stream keeps its class, and a full storage repeats the clip', async () => {
    for (const error of [
      new StreamFetchError('Check it.', 'The camera is off'),
      new TransientError('Full'),
    ]) {
      clipOf = () => Promise.reject(error);
      await expect(make()).rejects.toBeInstanceOf(error.constructor);
    }
  });

  test('capture gives up a clip that takes longer than its call', async () => {
    clipOf = () => new Promise((_, reject) => setTimeout(() => reject(new Error('Aborted')), 30));
    const hasty: Invoke = async (payload, ...rest) => invoke({ ...payload, seconds: 0 }, ...rest);
    expect(await make(hasty)).toEqual({ kind: 'none', reason: 'The clip took too long' });
  });
});

test('capture scales the copy of a frame that the model receives', async () => {
  const resize = createRemoteResize({ invoke, seconds: 15 });
  expect(Buffer.from(await resize(Buffer.from([1, 2]), 224, signal))).toEqual(Buffer.from([1, 2, 224]));
});

describe('capture: contact sheets', () => {
  const samples = [1, 2, 3].map((fill) => ({ frame: Buffer.alloc(9, fill), capturedAt: new Date(0) }));
  const layout = { columns: 2, tileWidthPixels: 320 };
  const sheets = (call: Invoke = invoke) => createRemoteContactSheets({ invoke: call, seconds: 30 });

  test('capture returns a contact sheet as one image', async () => {
    expect(Buffer.from(await sheets().make(samples, layout, signal))).toEqual(Buffer.from([255, 216, 3]));
  });

  test('a failed contact sheet or an unreachable capture function is reported as a vision error', async () => {
    const throwing = (error: Error) => {
      const call: Invoke = async () => {
        throw error;
      };
      return sheets(call).make(samples, layout, signal);
    };
    const large = [{ frame: Buffer.alloc(4_600_000), capturedAt: new Date(0) }];

    await expect(throwing(new TransientError('throttled'))).rejects.toThrow(VisionError);
    await expect(sheets().make(large, layout, signal)).rejects.toThrow(VisionError);
    await expect(throwing(new InvocationError('failed'))).rejects.toThrow(InvocationError);
  });
});
