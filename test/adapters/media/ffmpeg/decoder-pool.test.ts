import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FrameSize } from '../../../../adapters/media/ffmpeg/capture-arguments.ts';
import { placeKeyFrame } from '../../../../adapters/media/mpeg-ts/place-key-frame.ts';
import { poolDecoders } from '../../../../adapters/media/ffmpeg/decoder-pool.ts';
import { startDecoder } from '../../../../adapters/media/ffmpeg/decoder-process.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import type { FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { extractLastKeyFrame } from '../../../../adapters/media/hls/extract-last-key-frame.ts';
import { readJpegHeader } from '../../../../core/stream/jpeg.ts';
import { thumbnail } from '../../../../core/records/capture.ts';

const ffmpegPath = process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg';
let tempDir: string;
let red: Buffer;
let blue: Buffer;
let small: Buffer;
let detailed: Buffer;
beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), 'watchpost-decoders-'));
  red = keyFrame('red', '1280x720');
  blue = keyFrame('blue', '1280x720');
  small = keyFrame('green', '320x240');
  detailed = keyFrame('black', '1280x720', 'noise=alls=40');
});
afterAll(() => rm(tempDir, { recursive: true, force: true }));

/** Records a stream with B-frames, whose decoder holds frames back. */
function keyFrame(color: string, size: string, filter = 'null'): Buffer {
  const options = `-loglevel error -f lavfi -i color=${color}:size=${size}:rate=10 -t 0.4 -vf ${filter} -c:v libx264 -preset ultrafast -bf 2 -pix_fmt yuv420p -f mpegts pipe:1`;
  const { stdout } = spawnSync(ffmpegPath, options.split(' '), { maxBuffer: 1e8 });
  return Buffer.from(extractLastKeyFrame(stdout)!);
}

function openPool(maxProcesses = 1) {
  let alone = 0;
  let started = 0;
  const runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const counted: FfmpegRunner = {
    run: (...call) => {
      alone += 1;
      return runner.run(...call);
    },
    runAll: (...call) => {
      alone += 1;
      return runner.runAll(...call);
    },
  };
  const start = (size: FrameSize | null) => {
    started += 1;
    return startDecoder(ffmpegPath, size);
  };
  const pool = poolDecoders({ ffmpegPath, ffmpeg: counted, maxProcesses, elapsedMs: () => 0, start });
  const { signal } = new AbortController();
  const run = (bytes: Uint8Array, caller?: string) =>
    pool.run(
      { kind: 'pipe', format: 'mpegts', chunks: [bytes] },
      { mode: 'frames', clipSeconds: 0, ...(caller !== '' && { caller: caller ?? 'ada' }) },
      { timeoutMs: 20_000 },
      signal,
    );
  const runAll = (keyFrames: Uint8Array[], caller = 'ada', isEach = false) =>
    pool.runAll(
      { kind: 'pipe', format: 'mpegts', chunks: keyFrames },
      caller === '' ? { isEach } : { caller, isEach },
      { timeoutMs: 20_000 },
      signal,
    );
  return { run, runAll, countAlone: () => alone, countStarted: () => started };
}

function atSecond(keyFrame: Uint8Array, seconds: number): Uint8Array {
  const placed = Buffer.from(keyFrame);
  placeKeyFrame(placed, 0x100, seconds);
  return placed;
}

/** Names the color of a thumbnail by its planes U and V. */
function readColor(planar: Uint8Array): string {
  const luma = thumbnail.width * thumbnail.height;
  const [u = 0, v = 0] = [planar[luma + 1000], planar[(luma * 5) / 4 + 1000]];
  if (v > 200) return 'red';
  return u > 200 ? 'blue' : u < 110 && v < 110 ? 'green' : `${u} ${v}`;
}

test('streams take turns in one decoder, and each gets its own picture', async () => {
  const { run, countAlone } = openPool();
  const colors: string[] = [];
  for (let round = 0; round < 4; round += 1)
    for (const stream of [red, blue]) colors.push(readColor((await run(stream)).thumbnail));
  expect(colors).toEqual(['red', 'blue', 'red', 'blue', 'red', 'blue', 'red', 'blue']);
  expect(countAlone()).toBe(0);
});

test('a process serves one caller: another one, or none, never has its pictures from it', async () => {
  const { run, countAlone, countStarted } = openPool(3);
  const colors: string[] = [];
  for (const caller of ['ada', 'bob', 'ada', 'bob', ''])
    colors.push(readColor((await run(caller === 'bob' ? blue : red, caller)).thumbnail));
  expect(colors).toEqual(['red', 'blue', 'red', 'blue', 'red']);
  expect({ started: countStarted(), alone: countAlone() }).toEqual({ started: 2, alone: 1 });
});

test('a new process takes the place of the longest idle one, if that has no frequent captures', async () => {
  const clock = { elapsedMs: 0 };
  let started = 0;
  let alone = 0;
  const output = { frame: red, thumbnail: red };
  const pool = poolDecoders({
    ffmpegPath,
    maxProcesses: 2,
    elapsedMs: () => clock.elapsedMs,
    ffmpeg: { run: async () => ((alone += 1), output), runAll: async () => [output] },
    start: () => {
      started += 1;
      return { pid: undefined, isBusy: () => false, decode: async () => output, close: () => undefined };
    },
  });
  const run = (caller: string) =>
    pool.run(
      { kind: 'pipe', format: 'mpegts', chunks: [red] },
      { mode: 'frames', clipSeconds: 0, caller },
      { timeoutMs: 20_000 },
      new AbortController().signal,
    );
  for (const caller of ['ada', 'bob', 'eve', 'ada']) await run(caller);
  expect({ started, alone }).toEqual({ started: 2, alone: 1 });
  clock.elapsedMs = 20_000;
  await run('ada');
  clock.elapsedMs = 31_000;
  for (const caller of ['eve', 'ada', 'bob']) await run(caller);
  expect({ started, alone }).toEqual({ started: 3, alone: 2 });
});

test('a pooled capture has the size of one in a process of its own', async () => {
  const { run, countAlone } = openPool(2);
  const sizes: unknown[] = [];
  for (const stream of [small, small, red, red, small])
    sizes.push(readJpegHeader((await run(stream)).frame), (await run(stream)).thumbnail.length);
  const [little, large] = [
    { width: 320, height: 240 },
    { width: 896, height: 504 },
  ];
  expect(sizes.filter((size) => typeof size === 'object')).toEqual([little, little, large, large, little]);
  expect(countAlone()).toBe(0);
});

/** Damages the slice data of a key frame after its first packets, which hold the parameter sets. */
function damage(extract: Buffer, change: (packet: Buffer, index: number) => void): Buffer {
  const copy = Buffer.from(extract);
  for (let at = 188 * 3; at + 188 <= copy.length; at += 188)
    change(copy.subarray(at + 8, at + 188), at / 188);
  return copy;
}

const attacks: [string, (extract: Buffer) => Buffer][] = [
  ['a damaged slice', (extract) => damage(extract, (packet) => packet.fill(0xa5, 40))],
  ['a truncated frame', (extract) => extract.subarray(0, 188 * 4)],
  ['several frames in one', (extract) => Buffer.concat([extract, extract.subarray(376)])],
  ['noise', (extract) => damage(extract, (packet, index) => packet.fill((index * 37) % 251))],
];

test.each(attacks)(
  '%s never leaves its picture to another stream, nor takes the picture of one',
  async (_, attack) => {
    const { run } = openPool();
    for (const stream of [red, detailed, red, detailed]) await run(stream);
    const hostile = attack(detailed);
    for (let round = 0; round < 3; round += 1) {
      const taken = await run(hostile).catch(() => undefined);
      if (taken) expect(readColor(taken.thumbnail)).not.toMatch(/red|blue/);
      expect(readColor((await run(red)).thumbnail)).toBe('red');
      expect(readColor((await run(blue)).thumbnail)).toBe('blue');
    }
  },
);

test('several key frames are decoded in their order, in one process that stays', async () => {
  const { runAll, countAlone, countStarted } = openPool();
  expect((await runAll([red, blue, red])).map((picture) => picture && readColor(picture.thumbnail))).toEqual([
    'red',
    'blue',
    'red',
  ]);
  expect({ started: countStarted(), alone: countAlone() }).toEqual({ started: 1, alone: 0 });
});

test('key frames from the first unusual one on are decoded in one process of their own', async () => {
  const { runAll, countAlone } = openPool();
  const [first, second, third, last] = [red, blue, blue, red].map(atSecond);
  const pictures = await runAll([first!, Buffer.concat([second!, third!]), last!]);
  expect(pictures.map((picture) => picture && readColor(picture.thumbnail))).toEqual([
    'red',
    'blue',
    'blue',
    'red',
  ]);
  expect(countAlone()).toBe(1);
});

test('a key frame that cannot be decoded is missing, and those around it keep their places', async () => {
  const { runAll } = openPool();
  const pictures = await runAll([red, Buffer.alloc(blue.length, 0x47), atSecond(red, 1)], 'ada', true);
  expect(pictures.map((picture) => picture && readColor(picture.thumbnail))).toEqual(['red', null, 'red']);
});

test('key frames of nobody are decoded in one process of their own', async () => {
  const { runAll, countAlone, countStarted } = openPool();
  expect(
    (await runAll([red, blue].map(atSecond), '')).map((picture) => readColor(picture!.thumbnail)),
  ).toEqual(['red', 'blue']);
  expect({ started: countStarted(), alone: countAlone() }).toEqual({ started: 0, alone: 1 });
});

test('a process of its own loses no key frame, however irregular their times are', async () => {
  const { runAll } = openPool();
  const times = [1, 2, 2.03, 2.06, 5];
  const pictures = await runAll(
    times.map((seconds, index) => atSecond(index % 2 ? blue : red, seconds)),
    '',
  );
  expect(pictures.map((picture) => readColor(picture!.thumbnail))).toEqual([
    'red',
    'blue',
    'red',
    'blue',
    'red',
  ]);
});
