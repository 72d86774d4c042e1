import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { extractLastKeyFrame } from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import { ffmpegPath, readMoment, record } from '../../../support/hls/recording.ts';
import { writeFields } from '../../../support/interlaced.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';

const never = new AbortController().signal;
const packetBytes = 188;
const tempDir = folderOfFile();
let whole: Buffer;

beforeAll(async () => {
  // Each segment has two key frames, in the second one at 2 s and 3 s.
  whole = (await record({ keyFrameSeconds: 1, seconds: 4, size: '640x360' })).segments[1]!;
});

async function momentShown(bytes: Uint8Array): Promise<number> {
  const input = { kind: 'pipe' as const, format: 'mpegts' as const, chunks: [bytes] };
  const wanted = { mode: 'frames' as const, clipSeconds: 3 };
  const runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const { thumbnail } = await runner.run(input, wanted, { timeoutMs: 20_000 }, never);
  return readMoment(thumbnail);
}

/** Splits bytes into packets. */
function edited(edit: (packet: Buffer, index: number) => Buffer | null): Buffer {
  const packets = Array.from({ length: whole.length / packetBytes }, (_, index) =>
    edit(Buffer.from(whole.subarray(index * packetBytes, (index + 1) * packetBytes)), index),
  );
  return Buffer.concat(packets.filter((packet) => packet !== null));
}

test('the last key frame shows the same as the whole segment, in fewer bytes', async () => {
  const cut = extractLastKeyFrame(whole)!;
  expect(cut.length).toBeLessThan(whole.length / 2);
  expect(cut.length % packetBytes).toBe(0);
  expect(await momentShown(cut)).toBeCloseTo(3, 0);
  expect(await momentShown(whole)).toBeCloseTo(3, 0);
});

test('a key frame of interlaced video has both fields, also if each is a unit of its own', async () => {
  const input = {
    kind: 'pipe' as const,
    format: 'mpegts' as const,
    chunks: [extractLastKeyFrame(writeFields())!],
  };
  const runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const wanted = { mode: 'frames' as const, clipSeconds: 0 };
  const { thumbnail } = await runner.run(input, wanted, { timeoutMs: 20_000 }, never);
  const [darkest, brightest] = [
    Math.min(...thumbnail.subarray(0, 14_400)),
    Math.max(...thumbnail.subarray(0, 14_400)),
  ];
  expect([darkest < 90, brightest > 150]).toEqual([true, true]);
});

test('a segment without marks gives its last key frame, found by its content', async () => {
  const unmarked = edited((packet) => {
    if ((packet[3]! & 0x20) !== 0 && packet[4]! > 0) packet[5] = packet[5]! & ~0x40;
    return packet;
  });
  expect(await momentShown(extractLastKeyFrame(unmarked)!)).toBeCloseTo(3, 0);
});

test('a segment without tables, of other bytes or with misaligned packets returns null', () => {
  expect(
    extractLastKeyFrame(edited((packet) => ((packet[1]! & 0x1f) === 0 && packet[2] === 0 ? null : packet))),
  ).toBeNull();
  expect(extractLastKeyFrame(Buffer.from('sorry'))).toBeNull();
  expect(extractLastKeyFrame(new Uint8Array())).toBeNull();
  expect(
    extractLastKeyFrame(
      Buffer.concat([whole.subarray(0, packetBytes * 4), whole.subarray(packetBytes * 4 + 1)]),
    ),
  ).toBeNull();
});

test('damaged bytes return bytes or null and never throw', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 40 }), (damages) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of damages) bytes[at] = value;
      const cut = extractLastKeyFrame(bytes);
      expect(cut === null || cut.length <= bytes.length).toBe(true);
    }),
  );
});
