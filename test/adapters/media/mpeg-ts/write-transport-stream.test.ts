import { expect, test } from 'vitest';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { packetPayload, readPid } from '../../../../adapters/media/mpeg-ts/packet.ts';
import { readPts } from '../../../../adapters/media/mpeg-ts/pes-packet.ts';
import { writeTransportStream } from '../../../../adapters/media/mpeg-ts/write-transport-stream.ts';

function readDts(payload: Uint8Array): number {
  const from = Buffer.from(payload.subarray(14, 19));
  return (
    ((from[0]! >> 1) & 7) * 2 ** 30 + (from.readUInt16BE(1) >> 1) * 2 ** 15 + (from.readUInt16BE(3) >> 1)
  );
}

test('access units are found again, with key frames and growing decoding times', () => {
  const pts = [9000, 18_000, 12_000, 15_000, 27_000, 21_000];
  const units = pts.map((time, index) => ({
    bytes: new Uint8Array(300).fill(index),
    isKeyFrame: index === 0,
    pts: time,
  }));
  const stream = writeTransportStream('H264', units);
  const found = indexAccessUnits([stream])!;
  expect(found.accessUnits.map(({ isKeyFrame }) => isKeyFrame)).toEqual(pts.map((_, index) => index === 0));
  const heads = found.accessUnits.map(({ at }) => packetPayload(stream.subarray(at, at + 188)));
  expect(heads.map(readPts)).toEqual(pts);
  const dts = heads.map(readDts);
  expect(dts.toSorted((one, other) => one - other)).toEqual(dts);
  expect(dts.every((time, index) => time <= pts[index]!)).toBe(true);
});

test.each([1, 163, 164, 165, 166, 167, 182, 183, 184, 348, 349, 350, 351, 5000])(
  'a key frame of %d bytes is whole in packets of 188 bytes',
  (length) => {
    const content = Buffer.alloc(length, 0x5a);
    const bytes = Buffer.concat([Buffer.from([0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 1, 0x65]), content]);
    const stream = writeTransportStream('H264', [{ bytes, isKeyFrame: true, pts: 90_000 }]);
    expect(stream.length % 188).toBe(0);
    const video = Array.from({ length: stream.length / 188 }, (_, index) => index * 188).filter(
      (at) => stream[at] === 0x47 && readPid(stream, at) === 0x100,
    );
    expect(video.map((at) => stream[at + 3]! & 0x0f)).toEqual(video.map((_, index) => index % 16));
    const payloads = video.map((at) => packetPayload(stream.subarray(at, at + 188)));
    const units = payloads.map((each, index) => (index === 0 ? each.subarray(9 + each[8]!) : each));
    expect(Buffer.concat(units).equals(bytes)).toBe(true);
  },
);
