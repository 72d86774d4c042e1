import { expect, test } from 'vitest';
import {
  packetBytes,
  findStride,
  plainPackets,
  readPlainPackets,
} from '../../../../adapters/media/mpeg-ts/packet.ts';

/** A sync byte beside a packet now and then says nothing. */
const beside = (length: number, index: number) => Buffer.alloc(length, index % 2 === 0 ? 0x47 : index);
const packets = Array.from({ length: 40 }, (_, index) => Buffer.alloc(packetBytes, index).fill(0x47, 0, 1));
const plain = Buffer.concat(packets);

test.each([
  [188, plain],
  [192, Buffer.concat(packets.flatMap((packet, index) => [beside(4, index), packet]))],
  [204, Buffer.concat(packets.flatMap((packet, index) => [packet, beside(16, index)]))],
])('packets of %i bytes are those of 188, however they arrive', async (stride, bytes) => {
  expect(findStride(bytes)).toBe(stride);
  expect(plainPackets(bytes)).toEqual(plain);
  for (const [first, size] of [
    [1000, 7],
    [1500, 5000],
  ] as const) {
    const chunks = async function* () {
      yield bytes.subarray(0, first);
      for (let at = first; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const read: Uint8Array[] = [];
    for await (const chunk of readPlainPackets(chunks())) read.push(chunk);
    // The last packet may be none: nothing follows it.
    expect(Buffer.concat(read).subarray(0, 39 * packetBytes)).toEqual(plain.subarray(0, 39 * packetBytes));
  }
});

test('bytes without packets have no distance of packets', () => {
  expect(findStride(Buffer.from('#EXTM3U'))).toBe(undefined);
  expect(findStride(Buffer.alloc(1024))).toBe(undefined);
});
