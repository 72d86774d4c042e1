import { assert, property, uint8Array } from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createKeyFrameTracker } from '../../../../adapters/media/hls/segments/key-frame-tracker.ts';
import {
  beginsRefreshMp4,
  keyFrameOffsetsMp4,
} from '../../../../adapters/media/hls/segments/mp4-key-frames.ts';
import { keyFrameOffsetsTs } from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import { record, type Recording } from '../../../support/hls/recording.ts';

/** Segments of 2 s with a key frame every 0.5 s, and others with one in 6 s. */
const often = { keyFrameSeconds: 0.5, seconds: 6 };
const rarely = { keyFrameSeconds: 6, seconds: 6 };

test.each([
  ['MPEG-TS', {}],
  ['MPEG-TS with sound', { sound: true }],
  ['MPEG-TS of H.265', { codec: 'h265' }],
  ['fMP4', { segmentType: 'fmp4' }],
  ['fMP4 with sound', { segmentType: 'fmp4', sound: true }],
  ['fMP4 of H.265', { segmentType: 'fmp4', codec: 'h265' }],
] as const)('the time of the last key frame is found (%s)', async (_format, options) => {
  const { segments, initialization } = await record({ ...often, ...options });
  for (const segment of segments) expect(toTime(segment, initialization)).toBeCloseTo(1.5, 2);
});

test.each(['mpegts', 'fmp4'] as const)(
  'the last key frame may be in an earlier segment (%s)',
  async (segmentType) => {
    const { segments, initialization } = await record({ ...rarely, segmentType });
    expect(segments.map((segment) => toTime(segment, initialization))).toEqual([0, null, null]);
  },
);

test.each([
  ['MPEG-TS', {}, 6],
  ['MPEG-TS', { keyFrameSeconds: 0.5 }, 0],
  ['fMP4', { segmentType: 'fmp4' }, 6],
] as const)(
  'the time without a key frame is that of whole segments (%s %j)',
  async (_format, options, seconds) => {
    const {
      segments: [first, ...rest],
      initialization,
    } = await record({ ...rarely, ...options });
    expect(await measure([first!, ...rest], initialization)).toBeCloseTo(seconds, 5);
    expect(await measure(rest, initialization)).toBe(seconds === 0 ? 0 : undefined);
  },
);

test('the last key frame is found after garbage and across a timestamp wrap', async () => {
  const { segments } = await record(often);
  const shifted = Buffer.from(segments[1]!);
  for (let at = 0; at < shifted.length; at += 188)
    addToTimestamp(shifted.subarray(at, at + 188), 2 ** 33 - 4.4 * 90_000);
  for (const segment of [Buffer.concat([Buffer.alloc(500, 'x'), segments[1]!]), shifted])
    expect(keyFrameOffsetsTs(segment)?.at(-1)).toBeCloseTo(1.5, 2);
});

test('a segment of tables only has no key frame, and is media', async () => {
  const [segment] = (await record(often)).segments;
  const tables = segment!.subarray(0, 3 * 188);
  expect(keyFrameOffsetsTs(tables)).toEqual([]);
  expect(keyFrameOffsetsTs(tables.subarray(0, 188))).toBeNull();
});

describe('damaged segment', () => {
  let recording: Recording;
  beforeAll(async () => {
    recording = await record({ ...often, segmentType: 'fmp4' });
  });

  test('a damaged segment has no last key frame and causes no error', () => {
    const { segments, initialization } = recording;
    assert(
      property(uint8Array({ minLength: 1, maxLength: 40 }), (noise) => {
        const damaged = Buffer.from(segments[0]!);
        for (const [index, byte] of noise.entries()) damaged[(byte * 7 + index * 13) % damaged.length] = byte;
        for (const times of [keyFrameOffsetsMp4(damaged, initialization), keyFrameOffsetsTs(damaged)])
          expect(times?.every(Number.isFinite)).not.toBe(false);
      }),
    );
    expect(keyFrameOffsetsMp4(segments[0]!, null)).toBeNull();
    expect(keyFrameOffsetsTs(new Uint8Array())).toBeNull();
  });

  test('a segment that declares endless samples is read quickly', () => {
    const segment = Buffer.from(recording.segments[0]!);
    const run = segment.indexOf('trun') + 4;
    segment.writeUInt32BE(0, run);
    segment.writeUInt32BE(0xffffffff, run + 4);
    expect(toTime(segment, recording.initialization)).not.toBeNaN();
  });

  test('samples that share their bytes are read as often as a segment has units, at most', () => {
    const information = Buffer.concat([Buffer.from([0, 0, 16, 0, 6]), Buffer.alloc(4095, 0xff)]);
    const fragment = (at: number) => {
      const run = Buffer.alloc(12);
      run.writeUInt32BE(1, 0);
      run.writeUInt32BE(99_000, 4);
      run.writeInt32BE(at, 8);
      return box('moof', createFragment(box('trun', run)));
    };
    const segment = Buffer.concat([fragment(fragment(0).length + 8), box('mdat', information)]);
    expect(keyFrameOffsetsMp4(segment, recording.initialization)).toHaveLength(99_000);
    expect(beginsRefreshMp4([segment], recording.initialization!)).toBe(false);
  }, 5_000);

  test.each(['moof', 'traf', 'trun'])('a segment of empty boxes (%s) takes no memory', (type) => {
    const boxes = Buffer.alloc(16 * 1024 * 1024, box(type, Buffer.alloc(0)));
    const bombs = { moof: boxes, traf: box('moof', boxes), trun: box('moof', createFragment(boxes)) };
    const before = process.memoryUsage().heapTotal;
    expect(toTime(bombs[type as keyof typeof bombs], recording.initialization)).toBeNull();
    expect(process.memoryUsage().heapTotal - before).toBeLessThan(64 * 1024 * 1024);
  });
});

/** Returns the time without a key frame in segments of 2 s. */
async function measure(segments: Buffer[], initialization: Buffer | null): Promise<number | undefined> {
  const segment = {
    durationSeconds: 2,
    startsAt: null,
    url: `https://example.com/1.${initialization ? 'm4s' : 'ts'}`,
    initialization: initialization && { url: 'https://example.com/0.mp4', byteRange: null },
  };
  const tracker = createKeyFrameTracker(segments.map(() => segment as never));
  const parts = [...(initialization ? [initialization] : []), ...segments];
  for await (const part of tracker.watch(ReadableStream.from(parts) as never))
    expect(part.length).toBeGreaterThan(0);
  return tracker.secondsWithoutKeyFrame();
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** Adds to the timestamps of the first track, by the PIDs of ffmpeg. */
function createFragment(runs: Buffer): Buffer {
  const [header, time] = [Buffer.alloc(8), Buffer.alloc(8)];
  header.writeUInt32BE(1, 4);
  return box('traf', Buffer.concat([box('tfhd', header), box('tfdt', time), runs]));
}

function toTime(segment: Buffer, initialization: Buffer | null): number | null {
  const offsets =
    initialization === null ? keyFrameOffsetsTs(segment) : keyFrameOffsetsMp4(segment, initialization);
  return offsets?.at(-1) ?? null;
}

/** Adds to the timestamps of the packet's video PES header, if it has one. */
function addToTimestamp(packet: Buffer, ticks: number): void {
  const start = packet.indexOf(Buffer.from([0, 0, 1, 0xe0]));
  if (start < 0 || (packet[1]! & 0x40) === 0) return;
  const at = start + 9;
  const before =
    ((packet[at]! >> 1) & 7) * 2 ** 30 +
    (packet.readUInt16BE(at + 1) >> 1) * 2 ** 15 +
    (packet.readUInt16BE(at + 3) >> 1);
  const after = (before + Math.round(ticks)) % 2 ** 33;
  packet[at] = (packet[at]! & 0xf1) | (Math.floor(after / 2 ** 30) << 1);
  packet.writeUInt16BE((Math.floor(after / 2 ** 15) % 2 ** 15) * 2 + 1, at + 1);
  packet.writeUInt16BE((after % 2 ** 15) * 2 + 1, at + 3);
}
