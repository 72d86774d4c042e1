import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import {
  clipEndPtsSeconds,
  trimToLastSeconds,
} from '../../../../adapters/media/hls/trim-transport-stream.ts';
import { lastKeyFrameOffsetTs } from '../../../../adapters/media/hls/ts-key-frames.ts';
import { ffmpegPath, readMoment, record } from '../../../support/hls/recording.ts';

const never = new AbortController().signal;
const packetBytes = 188;
let tempDir = '';
let runner: FfmpegRunner;
/** A key frame every second, 8 s in total. */
let stream: Buffer;

beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), 'last-seconds-'));
  runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const { segments } = await record({ keyFrameSeconds: 1, seconds: 8, size: '640x360' });
  stream = Buffer.concat(segments);
});
afterAll(() => rm(tempDir, { recursive: true, maxRetries: 10 }));

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

describe('lastSeconds', () => {
  test('the last seconds are a clip of that length that ends with the newest frame, its evidence', async () => {
    const { moments, evidence } = await readClip(trimToLastSeconds(stream, 3)!);
    expect(moments).toHaveLength(15);
    expect(moments[0]).toBeCloseTo(5.1, 0);
    expect(moments.at(-1)).toBeGreaterThan(7.7);
    expect(evidence).toBeGreaterThan(7.7);
  });

  test('the last seconds begin with the key frame before the clip and show the same as the whole stream', async () => {
    const cut = trimToLastSeconds(stream, 3)!;
    expect(cut.length).toBeLessThan(stream.length * 0.65);
    // The clip starts at 4.9 s: its key frame is at 4 s, three seconds before the last one.
    expect(lastKeyFrameOffsetTs(cut)).toBeCloseTo(3, 1);
    expect((await readClip(trimToLastSeconds(stream, 60)!, 3)).moments).toEqual(
      (await readClip(cut)).moments,
    );
  });

  test('the last seconds of a shorter stream are the whole stream', async () => {
    const { moments } = await readClip(trimToLastSeconds(stream, 20)!, 20);
    expect(moments).toHaveLength(40);
    expect(moments[0]).toBeCloseTo(0, 0);
  });

  test('the last seconds are found across a timestamp wrap', async () => {
    const wrapped = trimToLastSeconds(later(stream, 2n ** 33n - 630_000n), 3)!;
    expect(wrapped.length).toBe(trimToLastSeconds(stream, 3)!.length);
    expect((await readClip(wrapped)).moments).toEqual(
      (await readClip(trimToLastSeconds(stream, 3)!)).moments,
    );
  });

  test('the last seconds do not modify their input and leave no file', async () => {
    const before = Buffer.from(stream);
    await readClip(trimToLastSeconds(stream, 3)!);
    expect(stream.equals(before)).toBe(true);
    expect(await readdir(tempDir)).toEqual([]);
  });

  test('the last seconds are null for other bytes, missing tables and a key frame without a timestamp', () => {
    expect(trimToLastSeconds(Buffer.from('sorry'), 3)).toBeNull();
    expect(trimToLastSeconds(new Uint8Array(), 3)).toBeNull();
    expect(trimToLastSeconds(stream.subarray(packetBytes * 3), 3)?.length ?? 0).toBeLessThan(stream.length);
    const untimed = Buffer.from(stream);
    const beginning = Buffer.from([0, 0, 1, 0xe0]);
    for (let at = untimed.indexOf(beginning); at >= 0; at = untimed.indexOf(beginning, at + 1))
      untimed[at + 7] = 0;
    expect(trimToLastSeconds(untimed, 3)).toBeNull();
  });

  test('the last seconds of damaged bytes are bytes or null and never throw', () => {
    const some = stream.subarray(0, packetBytes * 60);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(packetBytes * 60 - 1), fc.nat(255)), { maxLength: 40 }),
        (damages) => {
          const bytes = Buffer.from(some);
          for (const [at, value] of damages) bytes[at] = value;
          const cut = trimToLastSeconds(bytes, 1);
          expect(cut === null || cut.length <= bytes.length + 2 * packetBytes).toBe(true);
        },
      ),
    );
  });
});
