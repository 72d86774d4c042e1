import { describe, expect, test } from 'vitest';
import { createKeyFrameEndDetector } from '../../../../../adapters/media/rtsp/rtp/key-frame-end.ts';
import type { VideoTrack } from '../../../../../adapters/media/rtsp/protocol/video-track.ts';

type Packet = { at: number; payload: number[]; type?: number; extension?: number };

function pastAt(codec: VideoTrack['codec'], packets: Packet[]): number {
  const end = createKeyFrameEndDetector({ codec, payloadType: 96, clockRate: 2 });
  return packets.findIndex((packet) => end.isPast(interleaved(packet)));
}

function interleaved({ at, payload, type = 96, extension = 0 }: Packet): Uint8Array {
  const head = Buffer.alloc(16 + (extension > 0 ? 4 + 4 * extension : 0));
  head.set([0x24, 0, 0, 0, extension > 0 ? 0x90 : 0x80, type]);
  head.writeUInt32BE(at, 8);
  if (extension > 0) head.writeUInt16BE(extension, 18);
  return Buffer.concat([head, Buffer.from(payload)]);
}

const [slice, idr, sps] = [[0x41], [0x65], [0x67]];
const at = (time: number, payload: number[]): Packet => ({ at: time, payload });

describe('end of the first H.264 key frame', () => {
  test('the key frame ends at the next access unit, for any number of packets', () => {
    expect(pastAt('H264', [at(1, slice), at(2, idr), at(2, idr), at(3, slice), at(4, slice)])).toBe(3);
  });

  test('the key frame is found in fragments and aggregates', () => {
    expect(pastAt('H264', [at(1, slice), at(2, [0x7c, 0x85]), at(2, [0x7c, 0x05]), at(3, slice)])).toBe(3);
    const aggregate = [0x78, 0, 2, 0x67, 0x42, 0, 2, 0x65, 0x88];
    expect(pastAt('H264', [at(1, slice), at(2, aggregate), at(3, slice)])).toBe(2);
  });

  test('an access unit that was joined midway is not a complete key frame', () => {
    expect(pastAt('H264', [at(1, [0x7c, 0x45]), at(2, slice), at(3, idr), at(4, slice)])).toBe(3);
  });

  test('the first access unit is complete if it begins with its parameter sets', () => {
    expect(pastAt('H264', [at(1, sps), at(1, idr), at(2, slice)])).toBe(2);
    expect(pastAt('H264', [at(1, [0x78, 0, 2, 0x67, 1, 0, 2, 0x65, 0x88]), at(2, slice)])).toBe(1);
  });

  test('reports, other payloads, short packets and extensions do not end the key frame', () => {
    const noise = [
      { at: 9, payload: idr, type: 200 & 0x7f },
      { at: 9, payload: idr, type: 97 },
    ];
    const packets = [at(1, slice), ...noise, { at: 2, payload: idr, extension: 2 }, ...noise, at(3, slice)];
    expect(pastAt('H264', packets)).toBe(6);
    const end = createKeyFrameEndDetector({ codec: 'H264', payloadType: 96, clockRate: 2 });
    expect(end.isPast(Uint8Array.of(0x24, 0, 0, 1, 7))).toBe(false);
  });

  test('the time before the first key frame is measured by the clock of the track', () => {
    const end = createKeyFrameEndDetector({ codec: 'H264', payloadType: 96, clockRate: 2 });
    const seconds = [at(1, slice), at(3, slice), at(25, sps), at(25, idr), at(27, slice), at(90, idr)].map(
      (packet) => (end.isPast(interleaved(packet)), end.secondsBefore()),
    );
    expect(seconds).toEqual([0, 0, 0, 12, 12, 12]);
  });

  test('the end of the key frame does not change afterwards', () => {
    const end = createKeyFrameEndDetector({ codec: 'H264', payloadType: 96, clockRate: 2 });
    const pictures = [at(1, slice), at(2, idr), at(3, slice), at(4, slice), at(5, idr)];
    const past = pictures.map((packet) => end.isPast(interleaved(packet)));
    expect(past).toEqual([false, false, true, true, true]);
  });

  test('a stream without key frames has no end of the key frame', () => {
    expect(pastAt('H264', [at(1, slice), at(2, slice), at(3, slice)])).toBe(-1);
  });
});

describe('begin of decoding without a key frame', () => {
  const recovery = (frames: number): number[] => [0x06, 6, 1, frames === 0 ? 0x84 : 0x62];

  test('the I picture of an open group is a key frame, but not a picture that refers to others', () => {
    expect(pastAt('H264', [at(1, slice), at(2, recovery(0)), at(2, [0x41, 0xb8]), at(3, slice)])).toBe(3);
    expect(pastAt('H264', [at(1, slice), at(2, recovery(0)), at(2, [0x41, 0xe0]), at(3, slice)])).toBe(-1);
  });

  test('the input ends where an intra refresh begins, because it has no key frame', () => {
    const end = createKeyFrameEndDetector({ codec: 'H264', payloadType: 96, clockRate: 2 });
    const refresh = [at(1, slice), at(2, recovery(2)), at(2, [0x41, 0xe0]), at(3, slice)];
    expect(refresh.map((packet) => end.isPast(interleaved(packet)))).toEqual([false, false, false, true]);
    expect(end.isRefreshed()).toBe(true);
  });
});

describe('end of the first key frame of other codecs', () => {
  test.each([
    ['plain', [0x26, 1]],
    ['a fragment', [0x62, 1, 0x93]],
    ['an aggregate', [0x60, 1, 0, 3, 0x40, 1, 1, 0, 3, 0x2a, 1, 1]],
  ])('the key frame of H.265 is found (%s)', (_form, keyFrame) => {
    expect(pastAt('H265', [at(1, [0x02, 1]), at(2, keyFrame), at(3, [0x02, 1])])).toBe(2);
  });

  test('the key frame of VP8 is not found', () => {
    expect(pastAt('VP8', [at(1, idr), at(2, idr), at(3, idr)])).toBe(-1);
  });
});
