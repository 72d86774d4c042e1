import { expect, test } from 'vitest';
import { limitCaptures } from '../../../../adapters/embedded/load/limit-captures.ts';
import type { Capture, CaptureRequest, ScannedFrame } from '../../../../core/records/capture.ts';

const request: CaptureRequest = {
  url: 'https://c.example/1.m3u8',
  mode: 'frames',
  clipSeconds: 3,
  caller: 'ada',
  resolveAgain: false,
};
const frame: ScannedFrame = { at: new Date(0), thumbnail: new Uint8Array() };
const never = new AbortController().signal;

/** Capturer whose turns are counted. `free` is the number of turns that are left to take. */
function openCapturer(free: number) {
  const held: string[] = [];
  const picture = new Uint8Array([7]);
  const capture: Capture = {
    frame: picture,
    thumbnail: picture,
    capturedAt: new Date(0),
    position: { segment: null, segment_seconds: 0 },
  };
  const turns = {
    take: async (caller: string) => {
      if ((free -= 1) < 0) return undefined;
      held.push(caller);
      return { end: () => void held.splice(held.indexOf(caller), 1) };
    },
  };
  const streams = {
    probe: async () => ({ platform: 'hls' as const, playbackUrl: '' }),
    capture: async () => capture,
    picture: async () => (held.includes(request.caller) ? picture : null),
  };
  return {
    capturer: limitCaptures(streams, { turns, elapsedMs: () => 0, report: () => undefined }),
    held,
    picture,
  };
}

test('a picture of a scan holds a turn of its own, after that of its capture has ended', async () => {
  const { capturer, held, picture } = openCapturer(2);
  await capturer.capture(request, never);
  expect(held).toEqual([]);
  expect(await capturer.picture(frame, request, never)).toBe(picture);
  expect(held).toEqual([]);
});

test('a picture for which no turn is free is missing', async () => {
  const { capturer } = openCapturer(1);
  await capturer.capture(request, never);
  expect(await capturer.picture(frame, request, never)).toBeNull();
});
