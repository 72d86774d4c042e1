import { expect, test } from 'vitest';
import { shareCaptures } from '../../../../adapters/embedded/load/share-captures.ts';
import type { Capture, CaptureRequest, ScannedFrame } from '../../../../core/records/capture.ts';
import type { FramePictures } from '../../../../core/ports/stream-capturer.ts';

const request: CaptureRequest = {
  url: 'https://camera.example/live.m3u8',
  mode: 'frames',
  clipSeconds: 3,
  caller: 'ada',
  resolveAgain: false,
};
const never = new AbortController().signal;

/** Capturer whose captures end by hand. */
function manualCapturer(picture: FramePictures['picture'] = async () => null) {
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
      picture,
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
  { title: 'a new resolution of the URL', other: { caller: 'ada', resolveAgain: true } },
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

test('callers share no capture: what a server gives to the cookies and credentials of one is not for another', () => {
  const { capturer, begun } = manualCapturer();
  for (const caller of ['ada', 'ada', 'bob', 'ada']) void capturer.capture({ ...request, caller }, never);
  expect(begun.map(({ request: { caller } }) => caller)).toEqual(['ada', 'bob']);
});

test('requests that look back share a capture since the same position only', () => {
  const { capturer, begun } = manualCapturer();
  for (const lookBack of [{ since: 'a' }, { since: 'a' }, { since: 'b' }, { since: null }, undefined])
    void capturer.capture({ ...request, ...(lookBack && { lookBack }), caller: 'ada' }, never);
  expect(begun.map(({ request }) => request.lookBack?.since)).toEqual(['a', 'b', null, undefined]);
});

test('jobs share each picture of a shared scan, and one that aborts leaves it to the others', async () => {
  const calls: { frame: ScannedFrame; signal: AbortSignal; end: (picture: Uint8Array) => void }[] = [];
  const frame = { at: new Date(0), thumbnail: new Uint8Array() };
  const { capturer } = manualCapturer(
    (asked, _, signal) => new Promise((end) => calls.push({ frame: asked, signal, end })),
  );
  const leaving = new AbortController();
  const left = capturer.picture(frame, request, leaving.signal).catch(() => 'left');
  const kept = capturer.picture(frame, request, never);
  leaving.abort();
  expect(await left).toBe('left');
  calls[0]?.end(new Uint8Array([7]));
  expect(await kept).toEqual(new Uint8Array([7]));
  expect(calls.map(({ frame: asked, signal }) => [asked, signal.aborted])).toEqual([[frame, false]]);
});
