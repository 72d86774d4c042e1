import { expect, test } from 'vitest';
import { shareCaptures } from '../../../../adapters/embedded/load/share-captures.ts';
import type { Capture, CaptureRequest } from '../../../../core/records/capture.ts';

const request: CaptureRequest = {
  url: 'https://camera.example/live.m3u8',
  mode: 'frames',
  clipSeconds: 3,
  resolveAgain: false,
};
const never = new AbortController().signal;

/** Capturer whose captures end by hand. */
function manualCapturer() {
  const clock = { now: new Date(0) };
  const begun: {
    request: CaptureRequest;
    signal: AbortSignal;
    end: () => void;
    fail: (error: Error) => void;
  }[] = [];
  const capturer = shareCaptures({
    streams: {
      probe: async () => ({ platform: 'hls', playbackUrl: '' }),
      capture: async (asked, signal) => {
        const result = Promise.withResolvers<Capture>();
        const capture: Capture = {
          frame: new Uint8Array([begun.length]),
          thumbnail: new Uint8Array(),
          capturedAt: new Date(0),
          position: { segment: null, segment_seconds: 0 },
        };
        begun.push({ request: asked, signal, end: () => result.resolve(capture), fail: result.reject });
        return result.promise;
      },
    },
    steadyNow: () => clock.now,
  });
  return { capturer, begun, clock };
}

test('requests for one URL at the same time receive one capture', async () => {
  const { capturer, begun } = manualCapturer();
  const captures = [capturer.capture(request, never), capturer.capture(request, never)];
  begun[0]?.end();
  const [first, second] = await Promise.all(captures);
  expect(begun).toHaveLength(1);
  expect(first).toBe(second);
});

test.each([
  { title: 'another URL', other: { url: 'https://camera.example/other.m3u8' } },
  { title: 'another mode', other: { mode: 'hybrid' as const } },
  { title: 'a new resolution of the URL', other: { resolveAgain: true } },
])('a request for $title receives a capture of its own', ({ other }) => {
  const { capturer, begun } = manualCapturer();
  void capturer.capture(request, never);
  void capturer.capture({ ...request, ...other }, never);
  expect(begun).toHaveLength(2);
});

test('clips share a capture only if their lengths are equal, and frames regardless of the length', () => {
  const { capturer, begun } = manualCapturer();
  for (const mode of ['clip', 'frames'] as const)
    for (const clipSeconds of [3, 3, 5]) void capturer.capture({ ...request, mode, clipSeconds }, never);
  expect(begun.map(({ request: { mode } }) => mode)).toEqual(['clip', 'clip', 'frames']);
});

test('modes clip and hybrid share a capture: both have a frame and a clip', async () => {
  const { capturer, begun } = manualCapturer();
  const captures = (['clip', 'hybrid'] as const).map((mode) => capturer.capture({ ...request, mode }, never));
  begun[0]?.end();
  const [clip, hybrid] = await Promise.all(captures);
  expect(begun).toHaveLength(1);
  expect(hybrid).toBe(clip);
});

test('a capture is reused for one second after its end, and not later', async () => {
  const { capturer, begun, clock } = manualCapturer();
  const first = capturer.capture(request, never);
  clock.now = new Date(5000);
  begun[0]?.end();
  await first;
  clock.now = new Date(6000);
  expect(await capturer.capture(request, never)).toBe(await first);
  clock.now = new Date(6001);
  void capturer.capture(request, never);
  expect(begun).toHaveLength(2);
});

test('a failure reaches every request that waits, and the next request captures again', async () => {
  const { capturer, begun } = manualCapturer();
  const waiting = [capturer.capture(request, never), capturer.capture(request, never)];
  begun[0]?.fail(new Error('no signal'));
  for (const capture of waiting) await expect(capture).rejects.toThrow('no signal');
  void capturer.capture(request, never);
  expect(begun).toHaveLength(2);
});

test('an aborted request leaves the capture to the others, and the last one aborts it', async () => {
  const { capturer, begun } = manualCapturer();
  const [one, other] = [new AbortController(), new AbortController()];
  const first = capturer.capture(request, one.signal);
  const second = capturer.capture(request, other.signal);
  one.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  expect(begun[0]?.signal.aborted).toBe(false);
  other.abort(new Error('left too'));
  await expect(second).rejects.toThrow('left too');
  expect(begun[0]?.signal.aborted).toBe(true);
  void capturer.capture(request, never);
  expect(begun).toHaveLength(2);
});

test('captures that several callers share are decoded for none of them, those of one caller for him', () => {
  const { capturer, begun } = manualCapturer();
  for (const caller of ['ada', 'ada', 'bob', 'ada']) void capturer.capture({ ...request, caller }, never);
  void capturer.capture({ ...request, url: 'https://camera.example/bob.m3u8', caller: 'bob' }, never);
  expect(begun.map(({ request: { caller } }) => caller)).toEqual(['ada', undefined, 'bob']);
});
