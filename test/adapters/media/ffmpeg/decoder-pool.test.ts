import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test, vi } from 'vitest';
import type { FrameSize } from '../../../../adapters/media/ffmpeg/capture-arguments.ts';
import {
  extractLastKeyFrame,
  placeKeyFrame,
  readKeyFrameUnits,
} from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import { poolDecoders } from '../../../../adapters/media/ffmpeg/decoder-pool.ts';
import { countLastMarks, startDecoder } from '../../../../adapters/media/ffmpeg/decoder-process.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { readJpegHeader } from '../../../../core/stream/jpeg.ts';
import { thumbnail } from '../../../../core/records/capture.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';

const ffmpegPath = process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg';
const tempDir = folderOfFile();
let red: Buffer;
let blue: Buffer;
let small: Buffer;
let detailed: Buffer;
beforeAll(async () => {
  red = keyFrame('red', '320x180');
  blue = keyFrame('blue', '320x180');
  small = keyFrame('green', '320x240');
  detailed = keyFrame('black', '320x180', 'noise=alls=40');
});

/** Records a stream with B-frames, whose decoder holds frames back. */
function keyFrame(color: string, size: string, filter = 'null'): Buffer {
  const options = `-loglevel error -f lavfi -i color=${color}:size=${size}:rate=10 -t 0.4 -vf ${filter} -c:v libx264 -preset ultrafast -bf 2 -pix_fmt yuv420p -f mpegts pipe:1`;
  const { stdout } = spawnSync(ffmpegPath, options.split(' '), { maxBuffer: 1e8 });
  return Buffer.from(extractLastKeyFrame(stdout)!);
}

function openPool(maxProcesses = 1, onDecode: (keyFrames: number) => void = () => undefined) {
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
    const decoder = startDecoder(ffmpegPath, size);
    return {
      ...decoder,
      decode: async (...call: Parameters<typeof decoder.decode>) => {
        const decoded = decoder.decode(...call);
        onDecode(call[0].length);
        return decoded;
      },
    };
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
  const runUnits = (keyFrames: Uint8Array[], chunks: AsyncIterable<Uint8Array>) =>
    pool.runAll(
      { kind: 'pipe', format: 'mpegts', keyFrames, chunks },
      { caller: 'ada', isEach: true },
      { timeoutMs: 20_000 },
      signal,
    );
  const runAll = (keyFrames: Uint8Array[], caller = 'ada', isEach = false, aborted = signal) =>
    pool.runAll(
      { kind: 'pipe', format: 'mpegts', chunks: keyFrames },
      caller === '' ? { isEach } : { caller, isEach },
      { timeoutMs: 20_000 },
      aborted,
    );
  return { run, runAll, runUnits, countAlone: () => alone, countStarted: () => started };
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

const colorsOf = (pictures: readonly ({ thumbnail: Uint8Array } | null)[]) =>
  pictures.map((picture) => picture && readColor(picture.thumbnail));

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

test('a stream that alternates damaged key frames with whole ones ends three shared processes', async () => {
  let started = 0;
  const output = { frame: red, thumbnail: red };
  const pool = poolDecoders({
    ffmpegPath,
    maxProcesses: 2,
    ffmpeg: { run: async () => output, runAll: async () => [output, output] },
    start: () => {
      started += 1;
      return { pid: undefined, isBusy: () => false, decode: async () => [output], close: () => undefined };
    },
  });
  const { signal } = new AbortController();
  for (let check = 0; check < 10; check += 1) {
    await pool.run(
      { kind: 'pipe', format: 'mpegts', chunks: [red] },
      { mode: 'frames', clipSeconds: 0, caller: 'eve' },
      { timeoutMs: 20_000 },
      signal,
    );
    await pool.runAll(
      { kind: 'pipe', format: 'mpegts', chunks: [red, red] },
      { caller: 'eve', isEach: true },
      { timeoutMs: 20_000 },
      signal,
    );
  }
  // The process of the frames stays.
  expect(started).toBe(1 + 3);
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
      return { pid: undefined, isBusy: () => false, decode: async () => [output], close: () => undefined };
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
  const wide = keyFrame('red', '1280x720');
  const sizes: unknown[] = [];
  for (const stream of [small, small, wide, wide, small])
    sizes.push(readJpegHeader((await run(stream)).frame)?.width);
  expect(sizes).toEqual([320, 320, 896, 896, 320]);
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
  expect(colorsOf(await runAll([red, blue, red]))).toEqual(['red', 'blue', 'red']);
  expect({ started: countStarted(), alone: countAlone() }).toEqual({ started: 1, alone: 0 });
});

test('key frames that are decoded together have at most 4 MiB, and are at most 32', async () => {
  const sizes: number[][] = [];
  const pool = poolDecoders({
    ffmpegPath,
    maxProcesses: 1,
    ffmpeg: { run: async () => expect.fail(), runAll: async () => expect.fail() },
    start: () => ({
      pid: undefined,
      isBusy: () => false,
      decode: async (keyFrames) => {
        sizes.push(keyFrames.map(({ length }) => length));
        return keyFrames.map(() => ({ frame: red, thumbnail: red }));
      },
      close: () => undefined,
    }),
  });
  const decode = (chunks: Uint8Array[]) =>
    pool.runAll(
      { kind: 'pipe', format: 'mpegts', chunks },
      { caller: 'ada' },
      { timeoutMs: 20_000 },
      new AbortController().signal,
    );
  expect(await decode(Array(70).fill(red))).toHaveLength(70);
  expect(sizes.splice(0).map(({ length }) => length)).toEqual([32, 32, 6]);
  const count = Math.ceil((3 * 4 * 1024 * 1024) / detailed.length);
  expect(await decode(Array(count).fill(detailed))).toHaveLength(count);
  const bytes = sizes.map((batch) => batch.reduce((sum, size) => sum + size, 0));
  expect(Math.max(...bytes)).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(sizes.length).toBeLessThan(count);
});

test('a damaged key frame between others ends the shared process, and leaves them their places', async () => {
  const { runAll, countAlone, countStarted } = openPool();
  // Only a decoder can tell.
  const damaged = damage(detailed, (packet, index) => index > 100 && packet.fill(0xa5));
  for (let round = 1; round <= 2; round += 1) {
    const keyFrames = [red, damaged, blue].map(atSecond);
    const [first, second, third, ...more] = await runAll(keyFrames, 'ada', true);
    expect([first, third].map((picture) => readColor(picture!.thumbnail))).toEqual(['red', 'blue']);
    if (second) expect(readColor(second.thumbnail)).not.toMatch(/red|blue/);
    expect(more).toEqual([]);
    expect({ started: countStarted(), alone: countAlone() }).toEqual({ started: round, alone: round });
  }
});

test('an abort among several key frames keeps their process, and the next capture has none of their pictures', async () => {
  const controller = new AbortController();
  const abort = (count: number) => count === 30 && controller.abort(new Error('no longer wanted'));
  const { runAll, countStarted } = openPool(1, abort);
  await runAll([red, blue]);
  const aborted = runAll(Array(30).fill(red), 'ada', false, controller.signal);
  await expect(aborted).rejects.toThrow('no longer wanted');
  expect(colorsOf(await runAll([blue, red]))).toEqual(['blue', 'red']);
  expect(countStarted()).toBe(1);
});

test('key frames have the timeout of one after an abort, and of each without', async () => {
  const now = vi.spyOn(performance, 'now');
  let nowMs = 0;
  now.mockImplementation(() => nowMs);
  try {
    for (const isAborted of [false, true]) {
      const decoder = startDecoder(ffmpegPath, null);
      // Each picture takes two of three seconds.
      const signal = {
        get aborted() {
          nowMs += 2_000;
          return isAborted;
        },
      } as AbortSignal;
      const pictures = await decoder.decode(Array(30).fill(unit(detailed)), 3_000, signal);
      decoder.close();
      if (isAborted) expect(pictures.length).toBeLessThan(30);
      else expect(pictures).toHaveLength(30);
    }
  } finally {
    now.mockRestore();
  }
});

const unit = (keyFrame: Uint8Array): Buffer => readKeyFrameUnits(keyFrame)!.bytes;

test.each([
  ['two pictures', () => Buffer.concat([unit(blue), unit(red)])],
  ['no picture', () => unit(blue).subarray(0, 40)],
  ['nothing', () => Buffer.alloc(0)],
])('a key frame of %s among others has no picture, nor have those after it', async (_, write) => {
  const decoder = startDecoder(ffmpegPath, null);
  const pictures = await decoder.decode([unit(red), write(), unit(red)], 3000);
  expect(colorsOf(pictures)).toEqual(['red']);
  expect(await decoder.decode([unit(red)], 3000)).toEqual([]);
});

test('access units are decoded without their MPEG-TS, but for those that need a process of their own', async () => {
  const { runUnits, countAlone } = openPool();
  const units = [red, blue].map(unit);
  let written = 0;
  async function* write() {
    for (const keyFrame of [red, blue, red].map(atSecond)) {
      written += 1;
      yield keyFrame;
    }
  }
  const colors = async (keyFrames: Buffer[]) => colorsOf(await runUnits(keyFrames, write()));
  expect(await colors(units)).toEqual(['red', 'blue']);
  expect({ written, alone: countAlone() }).toEqual({ written: 0, alone: 0 });
  const unusual = Buffer.concat([unit(red), unit(red)]);
  expect(await colors([...units, unusual])).toEqual(['red', 'blue', 'red']);
  expect({ written, alone: countAlone() }).toEqual({ written: 3, alone: 1 });
});

test('key frames that a decoder holds back have their own pictures, in a first and in later decodes', async () => {
  const decoder = startDecoder(ffmpegPath, null);
  for (const size of [1, 3, 2]) {
    const frames = [red, blue, red].slice(0, size);
    const pictures = await decoder.decode(frames.map(unit), 3000);
    expect(colorsOf(pictures)).toEqual(['red', 'blue', 'red'].slice(0, size));
  }
  decoder.close();
});

test.each([
  { written: 1, arrived: 1, marks: 1 },
  { written: 2, arrived: 5, marks: 1 },
  { written: 18, arrived: 1, marks: 17 },
  { written: 60, arrived: 1, marks: 20 },
])(
  'a decoder with $arrived of $written marks gets $marks after its last key frame',
  ({ written, arrived, marks }) => {
    expect(countLastMarks(written, arrived)).toBe(marks);
  },
);

test('key frames from the first unusual one on are decoded in one process of their own', async () => {
  const { runAll, countAlone } = openPool();
  const [first, second, third, last] = [red, blue, blue, red].map(atSecond);
  const pictures = await runAll([first!, Buffer.concat([second!, third!]), last!]);
  expect(colorsOf(pictures)).toEqual(['red', 'blue', 'blue', 'red']);
  expect(countAlone()).toBe(1);
});

test('a key frame that cannot be decoded is missing, and those around it keep their places', async () => {
  const { runAll } = openPool();
  const pictures = await runAll([red, Buffer.alloc(blue.length, 0x47), atSecond(red, 1)], 'ada', true);
  expect(colorsOf(pictures)).toEqual(['red', null, 'red']);
});

test('key frames of nobody are decoded in one process of their own', async () => {
  const { runAll, countAlone, countStarted } = openPool();
  expect(colorsOf(await runAll([red, blue].map(atSecond), ''))).toEqual(['red', 'blue']);
  expect({ started: countStarted(), alone: countAlone() }).toEqual({ started: 0, alone: 1 });
});

test('a process of its own loses no key frame, however irregular their times are', async () => {
  const { runAll } = openPool();
  const times = [1, 2, 2.03, 2.06, 5];
  const pictures = await runAll(
    times.map((seconds, index) => atSecond(index % 2 ? blue : red, seconds)),
    '',
  );
  expect(colorsOf(pictures)).toEqual(['red', 'blue', 'red', 'blue', 'red']);
});
