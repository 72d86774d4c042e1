import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createContactSheets } from '../../../../adapters/media/images/contact-sheet.ts';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';
import { jpegSize } from '../../../support/hls/jpeg-size.ts';

const sheets = createContactSheets({ ffmpegPath });
const decoder = createImageDecoder({ ffmpegPath });
const never = new AbortController().signal;
const layout = { columns: 2, tileWidthPixels: 320 };

test('a contact sheet has its frames in rows, separated by lines', async () => {
  const colors = ['red', 'lime', 'blue'];
  const samples = await Promise.all(colors.map(async (color, at) => sample(await jpeg(color), at)));
  const sheet = await sheets.make(samples, layout, never);
  expect(jpegSize(sheet)).toEqual({ width: 644, height: 364 });
  const at = await readPixels(sheet);
  expect([at(250, 100), at(570, 100), at(250, 280), at(570, 280)].map(strongest)).toEqual([
    'red',
    'green',
    'blue',
    'none',
  ]);
  expect(strongest(at(322, 100))).toBe('none');
});

test('a contact sheet keeps the aspect ratio of a frame, between bars', async () => {
  const sheet = await sheets.make(
    [sample(await jpeg('red', '180x320'), 0)],
    { ...layout, columns: 1 },
    never,
  );
  const at = await readPixels(sheet);
  expect([at(60, 120), at(160, 120), at(260, 120)].map(strongest)).toEqual(['none', 'red', 'none']);
});

test('a contact sheet shows the time of each frame in its corner', async () => {
  const grey = await jpeg('gray');
  const [first, again, later] = await Promise.all(
    [1, 1, 2].map((seconds) => sheets.make([sample(grey, seconds)], { ...layout, columns: 1 }, never)),
  );
  expect(first).toEqual(again);
  expect(litIn(await readPixels(first!))).toBeGreaterThan(500);
  expect(await differences(first!, later!)).toEqual({ inTheClock: true, elsewhere: false });
});

test.each([
  ['is not a JPEG', async () => Buffer.from('not a picture')],
  ['is truncated', async () => (await jpeg('red')).subarray(0, 300)],
])('a contact sheet crosses out a frame that %s and keeps the positions of the others', async (_, broken) => {
  const samples = [sample(await jpeg('red'), 0), sample(await broken(), 1), sample(await jpeg('blue'), 2)];
  const at = await readPixels(await sheets.make(samples, layout, never));
  expect([at(250, 100), at(250, 280)].map(strongest)).toEqual(['red', 'blue']);
  expect(Math.min(...at(324 + 160, 90))).toBeGreaterThan(150);
  expect(strongest(at(324 + 160, 40))).toBe('none');
});

test('a contact sheet without a decodable frame is a VisionError', async () => {
  const broken = sample(Buffer.from('not a picture'), 0);
  await expect(sheets.make([broken, broken], layout, never)).rejects.toBeInstanceOf(VisionError);
});

test('an aborted contact sheet is a VisionError', async () => {
  await expect(
    sheets.make([sample(await jpeg('red'), 0)], layout, AbortSignal.abort(new Error('late'))),
  ).rejects.toBeInstanceOf(VisionError);
});

function sample(frame: Uint8Array, seconds: number) {
  return { frame, capturedAt: new Date(Date.UTC(2026, 2, 1, 12, 34, seconds)) };
}

async function jpeg(color: string, size = '640x360'): Promise<Buffer> {
  const args = `-loglevel error -f lavfi -i color=${color}:size=${size} -frames:v 1 -c:v mjpeg -f image2pipe pipe:1`;
  return (await promisify(execFile)(ffmpegPath, args.split(' '), { encoding: 'buffer' })).stdout;
}

type Pixel = [number, number, number];

async function readPixels(picture: Uint8Array): Promise<(x: number, y: number) => Pixel> {
  const { width, height } = jpegSize(picture);
  const rgb = await decoder.decode(picture, { width, height }, never);
  return (x, y) => [...rgb.subarray((y * width + x) * 3, (y * width + x + 1) * 3)] as Pixel;
}

function strongest([red, green, blue]: Pixel): string {
  if (Math.max(red, green, blue) < 60) return 'none';
  return red > green && red > blue ? 'red' : green > blue ? 'green' : 'blue';
}

/** Size of the time on a tile: 153×33 pixels. */
function litIn(at: (x: number, y: number) => Pixel): number {
  const places = Array.from({ length: 153 * 33 }, (_, index) => at(index % 153, Math.floor(index / 153)));
  return places.filter((pixel) => Math.min(...pixel) > 200).length;
}

async function differences(one: Uint8Array, other: Uint8Array) {
  const [first, second] = [await readPixels(one), await readPixels(other)];
  const differs = (x: number, y: number) => Math.abs(first(x, y)[0] - second(x, y)[0]) > 40;
  const places = Array.from(
    { length: 320 * 180 },
    (_, index) => [index % 320, Math.floor(index / 320)] as const,
  );
  const isClock = (x: number, y: number) => x < 153 && y < 33;
  return {
    inTheClock: places.some(([x, y]) => isClock(x, y) && differs(x, y)),
    elsewhere: places.some(([x, y]) => !isClock(x, y) && differs(x, y)),
  };
}
