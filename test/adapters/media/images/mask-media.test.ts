import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createDecodeTurns } from '../../../../adapters/embedded/load/limit-decodes.ts';
import { createMaskMedia, maskCaptures } from '../../../../adapters/media/images/mask-media.ts';
import { TransientError } from '../../../../core/errors.ts';
import type { Capture, CaptureRequest, ScannedFrame } from '../../../../core/records/capture.ts';
import type { ScanningCapturer } from '../../../../core/ports/stream-capturer.ts';
import type { Region } from '../../../../core/records/capture.ts';
import { setSystemTimer } from '../../../../core/time-limit.ts';
import { isWatched } from '../../../../core/records/region.ts';
import { jpeg } from '../../vision/pixel/pictures.ts';

const never = new AbortController().signal;
const noStream: ScanningCapturer = {
  probe: () => Promise.reject(new Error('probed')),
  capture: () => Promise.reject(new Error('captured')),
  picture: async () => null,
};
const tempDir = mkdtempSync(join(tmpdir(), 'watchpost-mask-'));
afterAll(() => rmSync(tempDir, { recursive: true }));
const mask = createMaskMedia({ ffmpegPath: 'ffmpeg', tempDir });
const size = { width: 320, height: 180 };
const decoder = createImageDecoder({ ffmpegPath: 'ffmpeg' });
const orange = jpeg('color=orange:s=320x180');

const polygon = (mode: Region['mode'], ...points: [number, number][]): Region => ({ mode, points });
const shapes = {
  rectangle: [
    [0.1, 0.1],
    [0.4, 0.1],
    [0.4, 0.7],
    [0.1, 0.7],
  ],
  triangle: [
    [0.5, 0.02],
    [0.98, 0.5],
    [0.3, 0.9],
  ],
  needle: [
    [0.05, 0.93],
    [0.95, 0.96],
    [0.05, 0.97],
  ],
  star: [
    [0.5, 0.1],
    [0.6, 0.9],
    [0.1, 0.4],
    [0.9, 0.4],
    [0.4, 0.9],
  ],
  edge: [
    [0.8, 0],
    [1, 0],
    [1, 1],
    [0.9, 1],
  ],
} satisfies Record<string, [number, number][]>;

function brightness(rgb: Uint8Array, x: number, y: number): number {
  return rgb.subarray((y * size.width + x) * 3, (y * size.width + x) * 3 + 3).reduce((a, b) => a + b, 0);
}

describe('regions in a picture', () => {
  test.each(Object.entries(shapes))('every pixel of an excluded %s is black', async (_, points) => {
    const region = polygon('exclude', ...points);
    const { frame } = await mask({ frame: orange }, [region], never);
    const rgb = await decoder.decode(frame, size, never);
    const visible: string[] = [];
    let orangePixels = 0;
    for (let y = 0; y < size.height; y += 1)
      for (let x = 0; x < size.width; x += 1) {
        const isExcluded = !isWatched([region], (x + 0.5) / size.width, (y + 0.5) / size.height);
        const isBright = brightness(rgb, x, y) > 150;
        if (isExcluded && isBright) visible.push(`${x},${y}`);
        if (isBright) orangePixels += 1;
      }
    expect(visible).toEqual([]);
    expect(orangePixels).toBeGreaterThan(size.width * size.height * 0.5);
  });

  test('an included region has a white outline, and its inside and outside stay', async () => {
    const { frame } = await mask({ frame: orange }, [polygon('include', ...shapes.rectangle)], never);
    const rgb = await decoder.decode(frame, size, never);
    const isWhite = (x: number, y: number) => brightness(rgb, x, y) > 600;
    expect([isWhite(32, 60), isWhite(128, 60), isWhite(80, 18), isWhite(80, 60), isWhite(250, 60)]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  test('the clip of a capture is masked like its frame', async () => {
    const args =
      '-v error -f lavfi -i color=orange:s=320x180:r=5:d=1 -c:v libx264 -pix_fmt yuv420p -movflags';
    const file = join(tempDir, 'clip.mp4');
    execFileSync('ffmpeg', [...args.split(' '), '+faststart', '-y', file]);
    const clip = readFileSync(file);
    const masked = await mask({ frame: orange, clip }, [polygon('exclude', ...shapes.rectangle)], never);
    const pictures = await decoder.decodeClip(masked.clip!, size, 5, never);
    expect(pictures).toHaveLength(5);
    for (const rgb of pictures)
      expect([brightness(rgb, 80, 60) < 60, brightness(rgb, 250, 60) > 300]).toEqual([true, true]);
  });

  test('drawing takes turns of ffmpeg', async () => {
    const inTurn = createDecodeTurns({
      max: 1,
      elapsedMs: () => 0,
      setTimer: setSystemTimer,
      report: () => undefined,
    });
    let drawing = 0;
    let most = 0;
    const counted: typeof inTurn = (work, signal) =>
      inTurn(async () => {
        most = Math.max(most, (drawing += 1));
        return work().finally(() => (drawing -= 1));
      }, signal);
    const inTurns = createMaskMedia({ ffmpegPath: 'ffmpeg', tempDir, inTurn: counted });
    const regions = [polygon('exclude', ...shapes.rectangle)];
    const waiting = new AbortController();
    const held = Promise.withResolvers<void>();
    const first = inTurn(() => held.promise, never);
    const aborted = inTurns({ frame: orange }, regions, waiting.signal);
    waiting.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    held.resolve();
    await first;
    await Promise.all([1, 2, 3].map(() => inTurns({ frame: orange }, regions, never)));
    expect(most).toBe(1);
  });

  test('a picture that cannot be drawn is an error, so that nothing excluded is shown', async () => {
    const broken = mask({ frame: Buffer.from('no picture') }, [polygon('exclude', ...shapes.edge)], never);
    await expect(broken).rejects.toThrow(TransientError);
  });
});

test('requests of a stream share a capture, and each receives its own regions', async () => {
  const seen: CaptureRequest[] = [];
  const capture = { frame: orange, thumbnail: new Uint8Array() } as Capture;
  const streams = {
    ...noStream,
    capture: async (request: CaptureRequest) => {
      seen.push(request);
      return capture;
    },
  };
  const masking = maskCaptures(streams, mask);
  const request = {
    url: 'https://c.example/1.m3u8',
    mode: 'frames' as const,
    clipSeconds: 3,
    caller: 'ada',
    resolveAgain: false,
  };
  const whole = await masking.capture({ ...request, regions: null }, never);
  const masked = await masking.capture(
    { ...request, regions: [polygon('exclude', ...shapes.rectangle)] },
    never,
  );
  expect(seen).toEqual([request, request]);
  expect(whole.frame).toBe(orange);
  expect(masked.frame).not.toEqual(orange);
});

test('watches with the same regions share the drawing of a capture, and no others do', async () => {
  const captures = [1, 2].map((byte) => ({ frame: new Uint8Array([byte]) }) as Capture);
  const drawn: unknown[] = [];
  const streams = {
    ...noStream,
    capture: async ({ url }: CaptureRequest) => captures[Number(url)]!,
  };
  const masking = maskCaptures(streams, async ({ frame }, regions) => {
    drawn.push([frame[0], regions]);
    return { frame: new Uint8Array([...frame, drawn.length]) };
  });
  const request = { mode: 'frames' as const, clipSeconds: 3, caller: 'ada', resolveAgain: false };
  const draw = async (url: string, regions: Region[]) =>
    (await masking.capture({ ...request, url, regions }, never)).frame;
  const [left, right] = [[polygon('exclude', ...shapes.rectangle)], [polygon('exclude', ...shapes.triangle)]];

  const same = await Promise.all([draw('0', left), draw('0', structuredClone(left)), draw('0', left)]);
  const others = [await draw('0', right), await draw('1', left)];

  expect(new Set(same).size).toBe(1);
  expect(new Set([same[0], ...others]).size).toBe(3);
  expect(drawn).toEqual([
    [1, left],
    [1, right],
    [2, left],
  ]);
});

test('regions are drawn into each picture of a scan, and a missing one stays missing', async () => {
  const [shown, missing] = [0, 1].map((at) => ({ at: new Date(at), thumbnail: new Uint8Array() }));
  const streams = {
    ...noStream,
    picture: async (frame: ScannedFrame) => (frame === shown ? new Uint8Array([5]) : null),
  };
  const masking = maskCaptures(streams, async ({ frame }) => ({ frame: new Uint8Array([...frame, 9]) }));
  const request = { caller: 'ada', regions: [polygon('exclude', ...shapes.rectangle)] };
  expect(await masking.picture(shown!, request, never)).toEqual(new Uint8Array([5, 9]));
  expect(await masking.picture(missing!, request, never)).toBeNull();
  expect(await masking.picture(shown!, { caller: 'ada' }, never)).toEqual(new Uint8Array([5]));
});

test('a drawing that failed is tried again by the next watch', async () => {
  const capture = { frame: new Uint8Array([1]) } as Capture;
  const streams = {
    ...noStream,
    capture: async () => capture,
  };
  let calls = 0;
  const masking = maskCaptures(streams, async () => {
    calls += 1;
    if (calls === 1) throw new TransientError('The regions of the watch could not be drawn');
    return { frame: new Uint8Array([2]) };
  });
  const request = { url: '0', mode: 'frames' as const, clipSeconds: 3, caller: 'ada', resolveAgain: false };
  const regions = [polygon('exclude', ...shapes.rectangle)];
  await expect(masking.capture({ ...request, regions }, never)).rejects.toThrow(TransientError);
  expect((await masking.capture({ ...request, regions }, never)).frame).toEqual(new Uint8Array([2]));
});
