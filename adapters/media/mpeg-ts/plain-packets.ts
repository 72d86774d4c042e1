import { hasSyncByte, packetBytes } from './packet.ts';

/**
 * Bytes from packet to packet: alone, behind a time of arrival (M2TS), and before error correction (ETSI EN 300 429).
 */
const strides = [packetBytes, 192, 204];

/**
 * Returns the bytes from packet to packet if three of MPEG-TS follow each other, else undefined. A stream may be joined
 * within the first one.
 */
export function findStride(start: Uint8Array): number | undefined {
  return strides.find((stride) =>
    Array.from({ length: stride }, (_, offset) => offset).some((offset) =>
      [0, 1, 2].every((packet) => hasSyncByte(start, offset + packet * stride)),
    ),
  );
}

/** Returns the packets of a segment without the bytes between them. */
export function plainPackets(bytes: Uint8Array): Uint8Array {
  const stride = findStride(bytes.subarray(0, 1024)) ?? packetBytes;
  return stride === packetBytes ? bytes : takePackets(bytes, stride, true).plain;
}

/** Yields the packets of a stream without the bytes between them. The first chunk shows their distance. */
export async function* readPlainPackets(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let stride: number | undefined;
  let held: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    stride ??= findStride(chunk) ?? packetBytes;
    const isPlain = stride === packetBytes;
    const { plain, rest } = isPlain
      ? { plain: chunk, rest: held }
      : takePackets(Buffer.concat([held, chunk]), stride, false);
    held = rest;
    yield plain;
  }
}

function takePackets(bytes: Uint8Array, stride: number, isEnd: boolean) {
  const packets: Uint8Array[] = [];
  let at = 0;
  for (; at + (isEnd ? packetBytes : stride + 1) <= bytes.length; at += hasPacket() ? stride : 1)
    if (hasPacket()) packets.push(bytes.subarray(at, at + packetBytes));
  return { plain: Buffer.concat(packets), rest: bytes.subarray(at) };

  function hasPacket(): boolean {
    return hasSyncByte(bytes, at) && (hasSyncByte(bytes, at + stride) || at + stride >= bytes.length);
  }
}
