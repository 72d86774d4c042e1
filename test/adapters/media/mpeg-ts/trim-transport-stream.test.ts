import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import {
  clipEndPtsSeconds,
  trimToLastSeconds,
} from '../../../../adapters/media/mpeg-ts/trim-transport-stream.ts';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { toFfmpegInput } from '../../../../adapters/media/hls/capture-segments.ts';
import { keyFrameOffsetsTs } from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import { ffmpegPath, readMoment, record } from '../../../support/hls/recording.ts';
import { newSegment } from '../../../support/hls/new-segment.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';

const never = new AbortController().signal;
const packetBytes = 188;
const tempDir = folderOfFile();
let runner: FfmpegRunner;
/** A key frame every second, 8 s in total. */
let stream: Buffer;

beforeAll(async () => {
  runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const { segments } = await record({ keyFrameSeconds: 1, seconds: 8, size: '640x360' });
  stream = Buffer.concat(segments);
});

/** Trims a copy, since trimming uses the memory of its input. */
function trim(bytes: Uint8Array, seconds: number): Uint8Array | null {
  const parts = trimToLastSeconds([Buffer.from(bytes)], seconds);
  return parts && Buffer.concat(parts);
}

const request = {
  url: 'http://cdn.test/',
  mode: 'clip',
  clipSeconds: 1,
  caller: 'ada',
  resolveAgain: false,
} as const;
const listed = newSegment();

/** Replaces a PID in the section of a PMT. Its checksum, which only ffmpeg checks, becomes wrong. */
function renamePid(packet: Buffer, from: number, to: number): void {
  for (let at = 4; at + 1 < 60; at += 1)
    if ((packet.readUInt16BE(at) & 0x1fff) === from && packet[at]! >= 0xe0)
      packet.writeUInt16BE(0xe000 | to, at);
}

async function readClip(bytes: Uint8Array, clipSeconds = 3) {
  const input = {
    kind: 'pipe' as const,
    format: 'mpegts' as const,
    chunks: [bytes],
    endsAtSeconds: clipEndPtsSeconds,
  };
  const pictures = await runner.run(input, { mode: 'clip', clipSeconds }, { timeoutMs: 20_000 }, never);
  const decoder = createImageDecoder({ ffmpegPath });
  const frames = await decoder.decodeClip(pictures.clip!, { width: 2, height: 2 }, 5, never);
  // Gray is full range in RGB, and 16 to 235 in the recording.
  const moments = frames.map((rgb) => ((rgb[0]! * 219) / 255 + 16 - 30) / 12);
  return { moments, evidence: readMoment(pictures.thumbnail) };
}

/** Adds to all timestamps of a stream. */
function later(bytes: Buffer, ticks: bigint): Buffer {
  const moved = Buffer.from(bytes);
  for (let at = 0; at < moved.length; at += packetBytes) {
    const packet = moved.subarray(at, at + packetBytes);
    const payload = packet.subarray((packet[3]! & 0x20) === 0 ? 4 : 5 + packet[4]!);
    if ((packet[1]! & 0x40) === 0 || payload.readUIntBE(0, 3) !== 1) continue;
    for (const field of (payload[7]! & 0x40) === 0 ? [9] : [9, 14]) {
      const read = payload.readUIntBE(field, 5);
      const old =
        ((BigInt(read) >> 3n) & (7n << 30n)) |
        ((BigInt(read) >> 2n) & (0x7fffn << 15n)) |
        ((BigInt(read) >> 1n) & 0x7fffn);
      const time = (old + ticks) % 2n ** 33n;
      const written = ((time >> 30n) << 33n) | (((time >> 15n) & 0x7fffn) << 17n) | ((time & 0x7fffn) << 1n);
      payload.writeUIntBE(Number((BigInt(read) & 0xf0_00_01_00_01n) | written), field, 5);
    }
  }
  return moved;
}

test('the last seconds are a clip of that length that ends with the newest frame, its evidence', async () => {
  const { moments, evidence } = await readClip(trim(stream, 3)!);
  expect(moments).toHaveLength(15);
  expect(moments[0]).toBeCloseTo(5.1, 0);
  expect(moments.at(-1)).toBeGreaterThan(7.7);
  expect(evidence).toBeGreaterThan(7.7);
});

test('the last seconds begin with the key frame before the clip and show the same as the whole stream', async () => {
  const cut = trim(stream, 3)!;
  expect(cut.length).toBeLessThan(stream.length * 0.65);
  // The clip starts at 4.9 s: its key frame is at 4 s, three seconds before the last one.
  expect(keyFrameOffsetsTs(cut)?.at(-1)).toBeCloseTo(3, 1);
  expect((await readClip(trim(stream, 60)!, 3)).moments).toEqual((await readClip(cut)).moments);
});

test('the last seconds of a shorter stream are the whole stream', async () => {
  const { moments } = await readClip(trim(stream, 20)!, 20);
  expect(moments).toHaveLength(40);
  expect(moments[0]).toBeCloseTo(0, 0);
});

test('the last seconds are found across a timestamp wrap', async () => {
  const wrapped = trim(later(stream, 2n ** 33n - 630_000n), 3)!;
  expect(wrapped.length).toBe(trim(stream, 3)!.length);
  expect((await readClip(wrapped)).moments).toEqual((await readClip(trim(stream, 3)!)).moments);
});

test('the last seconds of several segments are those of the segments in one piece', () => {
  const half = Math.floor(stream.length / packetBytes / 2) * packetBytes;
  const segments = [stream.subarray(0, half), stream.subarray(half)].map((part) => Buffer.from(part));
  for (const seconds of [1, 3, 6, 20]) {
    const parts = trimToLastSeconds(
      segments.map((part) => Buffer.from(part)),
      seconds,
    )!;
    expect(Buffer.concat(parts).equals(trim(stream, seconds)!)).toBe(true);
  }
});

test('the last seconds of segments that are cut within a packet are those of the segments in one piece', async () => {
  const parts = [stream.subarray(0, packetBytes * 50 + 7), stream.subarray(packetBytes * 50 + 7)];
  const { input } = await toFfmpegInput(
    Readable.from(parts.map((part) => Buffer.from(part))),
    [listed],
    request,
  );
  expect(input).toMatchObject({ kind: 'pipe', endsAtSeconds: clipEndPtsSeconds });
  if (input.kind !== 'pipe' || !Array.isArray(input.chunks)) throw new Error('The clip was not trimmed');
  expect(Buffer.concat(input.chunks).equals(trim(stream, request.clipSeconds)!)).toBe(true);
});

test('the last seconds are of the newest segments if the PID of the video changes', () => {
  const half = indexAccessUnits([stream])!.accessUnits.findLast(({ isKeyFrame }) => isKeyFrame)!.at;
  const { psi, video } = indexAccessUnits([stream])!;
  const newest = Buffer.concat([...psi, stream.subarray(half)]);
  for (let at = 0; at < newest.length; at += packetBytes) {
    const pid = newest.readUInt16BE(at + 1) & 0x1fff;
    if (pid === video.pid) newest.writeUInt16BE((newest.readUInt16BE(at + 1) & 0xe000) | 0x321, at + 1);
    else renamePid(newest.subarray(at, at + packetBytes), video.pid, 0x321);
  }
  const parts = trimToLastSeconds([Buffer.from(stream.subarray(0, half)), Buffer.from(newest)], 6)!;
  expect(Buffer.concat(parts).equals(trim(newest, 6)!)).toBe(true);
  expect(indexAccessUnits(parts)!.video.pid).toBe(0x321);
});

test('the last seconds lie in the memory of their segments, without audio', async () => {
  const { segments } = await record({ keyFrameSeconds: 1, seconds: 2, sound: true });
  const copy = Buffer.from(segments[0]!);
  const parts = trimToLastSeconds([copy], 1)!;
  for (const part of parts) expect(part.buffer).toBe(copy.buffer);
  const pids = new Set<number>();
  const trimmed = Buffer.concat(parts);
  for (let at = 0; at < trimmed.length; at += packetBytes) pids.add(trimmed.readUInt16BE(at + 1) & 0x1fff);
  expect(pids.size).toBe(3);
});

test('an initialization section keeps its bytes, which later captures use', async () => {
  const { segments } = await record({ keyFrameSeconds: 1, seconds: 2, sound: true });
  const initialization = Buffer.from(segments[0]!);
  const playlist = [{ ...listed, initialization: { url: 'http://cdn.test/init.ts', byteRange: null } }];
  const { input } = await toFfmpegInput(Readable.from([initialization]), playlist, request);
  expect(input).toMatchObject({ kind: 'pipe', endsAtSeconds: clipEndPtsSeconds });
  expect(initialization.equals(segments[0]!)).toBe(true);
});

test('segments that cannot be trimmed are unchanged, and a clip leaves no file', async () => {
  await readClip(trim(stream, 3)!);
  expect(await readdir(tempDir)).toEqual([]);
  const damaged = Buffer.concat([stream, Buffer.from('sorry'.repeat(packetBytes))]);
  const copy = Buffer.from(damaged);
  expect(trimToLastSeconds([copy], 3)).toBeNull();
  expect(copy.equals(damaged)).toBe(true);
});

test('the last seconds are null for other bytes, missing tables and a key frame without a timestamp', () => {
  expect(trim(Buffer.from('sorry'), 3)).toBeNull();
  expect(trim(new Uint8Array(), 3)).toBeNull();
  expect(trim(stream.subarray(packetBytes * 3), 3)?.length ?? 0).toBeLessThan(stream.length);
  const untimed = Buffer.from(stream);
  const beginning = Buffer.from([0, 0, 1, 0xe0]);
  for (let at = untimed.indexOf(beginning); at >= 0; at = untimed.indexOf(beginning, at + 1))
    untimed[at + 7] = 0;
  expect(trim(untimed, 3)).toBeNull();
});

test('the last seconds of damaged bytes are bytes or null and never throw', () => {
  const some = stream.subarray(0, packetBytes * 60);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(packetBytes * 60 - 1), fc.nat(255)), { maxLength: 40 }),
      (damages) => {
        const bytes = Buffer.from(some);
        for (const [at, value] of damages) bytes[at] = value;
        const cut = trim(bytes, 1);
        expect(cut === null || cut.length <= bytes.length + 2 * packetBytes).toBe(true);
      },
    ),
  );
});
