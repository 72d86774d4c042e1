import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { captureSnapshot } from '../../../../adapters/media/pictures/capture-pictures.ts';
import { defaultPictureLimits } from '../../../../adapters/media/pictures/picture-limits.ts';
import { readJpegHeader } from '../../../../core/stream/jpeg.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';

const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });
const { signal } = new AbortController();

/** Draws a picture whose left half is black. */
function draw(size: string): Buffer {
  const scene = `color=white:size=${size}:duration=1:rate=1,drawbox=w=iw/2:h=ih:color=black:t=fill`;
  const args = `-loglevel error -f lavfi -i ${scene} -frames:v 1 -f image2pipe -c:v mjpeg pipe:1`;
  return execFileSync(ffmpegPath, args.split(' '), { maxBuffer: 1e8 });
}

async function capture(body: Uint8Array) {
  const open = () => ({
    content: 'jpeg' as const,
    headers: {},
    chunks: chunksOf(body),
    close: () => undefined,
  });
  const deps = { ffmpeg, now: () => new Date(), elapsedMs: () => 0, limits: defaultPictureLimits };
  const request = {
    url: 'http://camera/cam',
    mode: 'frames',
    clipSeconds: 1,
    caller: 'ada',
    resolveAgain: false,
  } as const;
  return captureSnapshot({ stream: open(), reopen: async () => open() }, request, deps, signal);
}

async function* chunksOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** Brightness of the corners of a thumbnail: above left and right, below left and right. */
const corners = ({ thumbnail }: { thumbnail: Uint8Array }): string[] =>
  [8 * 160 + 8, 8 * 160 + 151, 81 * 160 + 8, 81 * 160 + 151].map((at) =>
    thumbnail[at]! > 128 ? 'bright' : 'dark',
  );

/** Starts of EXIF with two entries, a maker and the orientation without its value, by byte order. */
const exifStarts = {
  II: '49492a000800000002000f01020002000000000000001201030001000000',
  MM: '4d4d002a000000080002010f000200000002000000000112000300000001',
};

/** Adds EXIF with an orientation. */
function withOrientation(jpeg: Buffer, orientation: number, order: keyof typeof exifStarts): Buffer {
  const value = order === 'II' ? [orientation, 0, 0, 0] : [0, orientation, 0, 0];
  const start = Buffer.from(exifStarts[order], 'hex');
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), start, Buffer.from([...value, 0, 0, 0, 0])]);
  const header = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), header, exif, jpeg.subarray(2)]);
}

test.each(['II', 'MM'] as const)('a picture is upright and mirrored by its EXIF (%s)', async (order) => {
  const scene = draw('320x240');
  const captured = (orientation: number) => capture(withOrientation(scene, orientation, order));
  const turned = await captured(8);
  expect(readJpegHeader(turned.frame)).toEqual({ width: 240, height: 320 });
  expect(corners(turned)).toEqual(['bright', 'bright', 'dark', 'dark']);
  expect(corners(await captured(2))).toEqual(['bright', 'dark', 'bright', 'dark']);
  for (const unturned of [1, 77])
    expect(corners(await captured(unturned))).toEqual(['dark', 'bright', 'dark', 'bright']);
});

test('EXIF that ends early turns no picture', async () => {
  const scene = draw('320x240');
  const whole = withOrientation(scene, 8, 'MM');
  const cut = Buffer.concat([
    whole.subarray(0, 2),
    Buffer.from([0xff, 0xe1, 0, 12]),
    whole.subarray(6, 16),
    scene.subarray(2),
  ]);
  expect(corners(await capture(cut))).toEqual(['dark', 'bright', 'dark', 'bright']);
});

test('an orientation behind the entries of the picture, such as that of its thumbnail, turns no picture', async () => {
  const scene = withOrientation(draw('320x240'), 8, 'MM');
  // Two entries are stated as one.
  scene[scene.indexOf('MM') + 9] = 1;
  expect(corners(await capture(scene))).toEqual(['dark', 'bright', 'dark', 'bright']);
});

test('the picture is the first JPEG of a response, and what follows is its preview', async () => {
  const { frame } = await capture(Buffer.concat([draw('320x240'), draw('160x120')]));
  expect(readJpegHeader(frame)).toEqual({ width: 320, height: 240 });
});
