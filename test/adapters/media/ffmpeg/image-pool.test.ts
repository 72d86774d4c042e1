import { execFileSync } from 'node:child_process';
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createDecodeTurns, type DecodeTurnsDeps } from '../../../../adapters/embedded/load/limit-decodes.ts';
import { createImageDecoder, type ImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { ImageDecodeError } from '../../../../adapters/media/ffmpeg/errors.ts';
import { poolImageDecoders } from '../../../../adapters/media/ffmpeg/image-pool.ts';
import { ffmpegPath } from '../../../support/hls/recording.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

const { signal } = new AbortController();
const size = { width: 32, height: 18 };
const decoder = createImageDecoder({ ffmpegPath });
let red: Buffer;
let blue: Buffer;
let green: Buffer;

beforeAll(() => {
  red = jpeg('color=red:size=896x504');
  blue = jpeg('color=blue:size=896x504');
  green = jpeg('color=green:size=320x240');
});

function jpeg(source: string): Buffer {
  const options = `-loglevel error -f lavfi -i ${source} -frames:v 1 -c:v mjpeg -f image2pipe pipe:1`;
  return execFileSync(ffmpegPath, options.split(' '));
}

function oneByOne({ report }: Pick<DecodeTurnsDeps, 'report'>) {
  const clock = { elapsedMs: () => performance.now(), setTimer: () => () => undefined };
  return createDecodeTurns({ ...clock, max: 1, reserved: 0, report });
}

const createTurns = () => oneByOne({ report: () => undefined });

const elapsedMs = () => performance.now();

function openPool(path = ffmpegPath, clock = elapsedMs) {
  let alone = 0;
  const counted: ImageDecoder = {
    ...decoder,
    decode: (...call) => {
      alone += 1;
      return decoder.decode(...call);
    },
    decodeEach: (...call) => {
      alone += 1;
      return decoder.decodeEach(...call);
    },
  };
  return {
    pool: poolImageDecoders({ ffmpegPath: path, alone: counted, createTurns, elapsedMs: clock }),
    countAlone: () => alone,
  };
}

test('pictures of the process that stays are those of a process of their own, also when sizes alternate', async () => {
  const { pool, countAlone } = openPool();
  const detailed = jpeg('testsrc2=size=896x504');
  for (const picture of [
    red,
    green,
    detailed,
    blue,
    red,
    detailed,
    green,
    blue,
    jpeg('smptebars=size=640x480'),
  ])
    expect(await pool.decode(picture, size, signal)).toEqual(await decoder.decode(picture, size, signal));
  const whole = await pool.decodeAll([green, red], size, signal, 'whole');
  expect(whole).toEqual(await decoder.decodeAll([green, red], size, signal, 'whole'));
  expect(countAlone()).toBe(0);
});

test('concurrent requests each get the picture of their own JPEG', async () => {
  const { pool } = openPool();
  const pictures = Array.from({ length: 4 }, (_, index) => jpeg(`color=0x${index}0${index}0f0:size=320x180`));
  const decoded = await Promise.all(pictures.map((picture) => pool.decode(picture, size, signal)));
  const expected = await Promise.all(pictures.map((picture) => decoder.decode(picture, size, signal)));
  expect(decoded).toEqual(expected);
});

test('a file with two pictures leaves none behind for the next request', async () => {
  const { pool } = openPool();
  await pool.decode(green, size, signal);
  await pool.decode(Buffer.concat([red, blue]), size, signal).catch(() => undefined);
  expect(await pool.decode(green, { ...size, width: 30 }, signal)).toEqual(
    await decoder.decode(green, { ...size, width: 30 }, signal),
  );
  const other = jpeg('color=yellow:size=320x240');
  expect(await pool.decode(other, size, signal)).toEqual(await decoder.decode(other, size, signal));
});

test.each([
  ['truncated', () => red.subarray(0, red.length / 2)],
  ['text', () => Buffer.from('no picture')],
  ['empty', () => Buffer.alloc(0)],
])('a JPEG that is %s is refused, and the next picture is the right one', async (_, broken) => {
  const { pool } = openPool();
  await pool.decode(blue, size, signal);
  await expect(pool.decode(broken(), size, signal)).rejects.toBeInstanceOf(ImageDecodeError);
  expect(await pool.decodeEach([broken(), red], size, signal)).toEqual([
    null,
    await decoder.decode(red, size, signal),
  ]);
  expect(await pool.decode(green, size, signal)).toEqual(await decoder.decode(green, size, signal));
});

test('a picture is decoded once for the jobs that judge the same frame', async () => {
  const { pool } = openPool();
  const [one, other] = await Promise.all([
    pool.decode(Buffer.from(red), size, signal),
    pool.decode(Buffer.from(red), size, signal),
  ]);
  expect(one).toBe(other);
});

test('a program that returns no picture is given up, and each JPEG is decoded in a process of its own', async () => {
  const { pool, countAlone } = openPool('/bin/false');
  for (const picture of [red, blue])
    expect(await pool.decode(picture, size, signal)).toEqual(await decoder.decode(picture, size, signal));
  expect(countAlone()).toBe(2);
});

test('a program that was too slow is tried again after a minute', async () => {
  const folder = folderOfTest();
  const program = join(folder, 'ffmpeg');
  symlinkSync('/bin/false', program);
  let nowMs = 0;
  const { pool, countAlone } = openPool(program, () => nowMs);
  await pool.decode(red, size, signal);
  unlinkSync(program);
  symlinkSync(ffmpegPath, program);
  nowMs = 59_999;
  await pool.decode(blue, size, signal);
  expect(countAlone()).toBe(2);
  nowMs = 60_000;
  expect(await pool.decode(green, size, signal)).toEqual(await decoder.decode(green, size, signal));
  expect(countAlone()).toBe(2);
});

test('an aborted request ends immediately and disturbs no other', async () => {
  const { pool } = openPool();
  const abort = new AbortController();
  const aborted = pool.decode(red, size, abort.signal);
  abort.abort(new Error('not needed'));
  await expect(aborted).rejects.toThrow('not needed');
  expect(await pool.decode(blue, size, signal)).toEqual(await decoder.decode(blue, size, signal));
});

test('the wait of each picture for its process is reported', async () => {
  const waits: number[] = [];
  const pool = poolImageDecoders({
    ffmpegPath,
    alone: decoder,
    elapsedMs,
    createTurns: () => oneByOne({ report: (waitedMs) => void waits.push(waitedMs) }),
  });
  await Promise.all([red, green].map(async (picture) => pool.decode(picture, size, signal)));
  const [first = Infinity, second = 0] = waits;
  // The second one has waited for the start of the process.
  expect(second).toBeGreaterThan(first);
});
