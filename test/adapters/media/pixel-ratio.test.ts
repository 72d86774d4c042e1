import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { poolDecoders } from '../../../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { extractLastKeyFrame } from '../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import { readFrames } from '../../../adapters/recordings/read-frames.ts';
import { decodeReadFrames } from '../../../adapters/recordings/played-frames.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { ffmpegPath } from '../../support/hls/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'watchpost-pixels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const runner = createFfmpegRunner({ ffmpegPath, tempDir: folder });
const { signal } = new AbortController();
const limits = { timeoutMs: 20_000 };
/** 640 × 480 pixels of 4:3. */
const square = { width: 852, height: 480 };

/** Encodes a second in which a black square of 240 × 240 is drawn in pixels of 4:3. */
function encode(codec: 'libx264' | 'libx265', container: string): Buffer {
  const scene = 'color=white:size=640x480:rate=10,drawbox=x=230:y=120:w=180:h=240:color=black:t=fill';
  const options = `-c:v ${codec} -preset ultrafast -g 5 -pix_fmt yuv420p ${container} pipe:1`;
  const input = ['-loglevel', 'error', '-f', 'lavfi', '-t', '1', '-i', `${scene},setsar=4/3`];
  return execFileSync(ffmpegPath, [...input, ...options.split(' ')], {
    maxBuffer: 1e8,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const ts = encode('libx264', '-f mpegts');

/** Returns the size of the picture and of the black square in it. */
function measure(jpeg: Uint8Array) {
  const size = readJpegHeader(jpeg)!;
  const gray = execFileSync(
    ffmpegPath,
    '-loglevel error -i pipe:0 -f rawvideo -pix_fmt gray pipe:1'.split(' '),
    { input: jpeg, maxBuffer: 1e8 },
  );
  const dark = (at: (index: number) => number, count: number): number =>
    Array.from({ length: count }, (_, index) => gray[at(index)]!).filter((level) => level < 128).length;
  const [middleRow, middleColumn] = [size.height / 2, size.width / 2];
  return {
    size: { width: size.width, height: size.height },
    box: [
      dark((x) => middleRow * size.width + x, size.width),
      dark((y) => y * size.width + middleColumn, size.height),
    ],
  };
}

function expectSquare(jpeg: Uint8Array): void {
  const { size, box } = measure(jpeg);
  expect(size).toEqual(square);
  expect(Math.abs(box[0]! - 240)).toBeLessThan(4);
  expect(Math.abs(box[1]! - 240)).toBeLessThan(4);
}

test.each([
  ['MPEG-TS with H.264', 'mpegts', () => ts],
  ['MPEG-TS with H.265', 'mpegts', () => encode('libx265', '-f mpegts')],
  ['fragmented MP4', 'mov', () => encode('libx264', '-movflags frag_keyframe+empty_moov -f mp4')],
] as const)('pixels of 4:3 are corrected in frame and clip of %s', async (_name, format, read) => {
  const chunks = [read()];
  const { frame } = await runner.run(
    { kind: 'pipe', format, chunks },
    { mode: 'frames', clipSeconds: 0 },
    limits,
    signal,
  );
  expectSquare(frame);
  const clip = await runner.run(
    { kind: 'pipe', format, chunks },
    { mode: 'hybrid', clipSeconds: 1 },
    limits,
    signal,
  );
  expectSquare(clip.frame);
  const film = execFileSync(
    ffmpegPath,
    '-loglevel error -f mp4 -i pipe:0 -frames:v 1 -f mjpeg pipe:1'.split(' '),
    { input: clip.clip!, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  const { size, box } = measure(film);
  expect(size).toEqual({ width: 672, height: 378 });
  expect(Math.abs(box[0]! - box[1]!)).toBeLessThan(5);
});

test('pixels of 4:3 are corrected in a process that stays, with the same bytes', async () => {
  const elsewhere = {
    run: () => Promise.reject(new Error('not pooled')),
    runAll: () => Promise.reject(new Error('not pooled')),
  };
  const pool = poolDecoders({ ffmpegPath, ffmpeg: elsewhere, maxProcesses: 1 });
  const chunks = [extractLastKeyFrame(ts)!];
  const input = { kind: 'pipe', format: 'mpegts', chunks } as const;
  const { frame } = await pool.run(input, { mode: 'frames', clipSeconds: 0, caller: 'ada' }, limits, signal);
  expectSquare(frame);
  const alone = await runner.run(input, { mode: 'frames', clipSeconds: 0 }, limits, signal);
  expect(Buffer.compare(frame, alone.frame)).toBe(0);
});

test('pixels of 4:3 are corrected in the frames of a scan', async () => {
  const [picture] = await runner.runAll({ kind: 'pipe', format: 'mpegts', chunks: [ts] }, {}, limits, signal);
  expectSquare(picture!.frame!);
});

test('pixels of 4:3 are corrected in a recording, also if its key frames are decoded one by one', async () => {
  const path = join(folder, 'recording.mp4');
  writeFileSync(path, encode('libx264', '-movflags frag_keyframe+empty_moov -f mp4'));
  for await (const { frame } of readFrames(ffmpegPath, path, { keyFramesOnly: true })) expectSquare(frame);
  let played = 0;
  for await (const { read } of decodeReadFrames(ffmpegPath, path)) {
    expectSquare((await read())!.frame);
    played += 1;
  }
  expect(played).toBe(2);
  const span = { kind: 'file', path, fromSeconds: 0, seconds: 1 } as const;
  expectSquare((await runner.run(span, { mode: 'hybrid', clipSeconds: 1 }, limits, signal)).frame);
});
