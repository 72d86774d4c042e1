export const packetBytes = 188;
const syncByte = 0x47;

// Packets: ISO/IEC 13818-1, 2.4.3.2. Adaptation field: 2.4.3.4.

/** Returns true if a packet can start at this offset. */
export function hasSyncByte(bytes: Uint8Array, offset: number): boolean {
  return bytes[offset] === syncByte;
}

/**
 * Returns the offset of the next packet, or the end of the input. Skips bytes that are not a packet: the next sync
 * byte must follow.
 */
export function findPacket(bytes: Uint8Array, from: number): number {
  for (let offset = from; offset < bytes.length; offset += 1) {
    const isLast = offset + packetBytes >= bytes.length;
    if (hasSyncByte(bytes, offset) && (isLast || hasSyncByte(bytes, offset + packetBytes))) return offset;
  }
  return bytes.length;
}

export function readPid(bytes: Uint8Array, offset = 0): number {
  return readUint16(bytes, offset + 1) & 0x1fff;
}

/** Returns the payload unit start indicator: the packet at this offset starts a PES packet or a PSI section. */
export function startsPayloadUnit(bytes: Uint8Array, offset = 0): boolean {
  return (readByte(bytes, offset + 1) & 0x40) !== 0;
}

/** Returns the random access indicator of the packet at this offset: its access unit is a key frame. */
export function isRandomAccess(bytes: Uint8Array, offset = 0): boolean {
  return (
    hasAdaptationField(bytes, offset) &&
    readByte(bytes, offset + 4) > 0 &&
    (readByte(bytes, offset + 5) & 0x40) !== 0
  );
}

/** Returns the payload of the packet at this offset: the bytes after its header and adaptation field. */
export function packetPayload(bytes: Uint8Array, offset = 0): Uint8Array {
  const end = offset + packetBytes;
  if ((readByte(bytes, offset + 3) & 0x10) === 0) return bytes.subarray(end, end);
  const headBytes = hasAdaptationField(bytes, offset) ? 5 + readByte(bytes, offset + 4) : 4;
  return bytes.subarray(Math.min(offset + headBytes, end), end);
}

/** Returns a copy of `before` and of the packets of one PID, in one piece. */
export function copyPackets(before: readonly Uint8Array[], bytes: Uint8Array, pid: number): Uint8Array {
  const runs = [...listRuns(bytes, 0, pid)].map(({ start, end }) => bytes.subarray(start, end));
  return Buffer.concat([...before, ...runs]);
}

/** Moves the packets of one PID together, from an offset on, and returns them as a part of `bytes`. */
export function gatherPackets(bytes: Uint8Array, from: number, pid: number): Uint8Array {
  let end = from;
  for (const run of listRuns(bytes, from, pid)) {
    if (run.start > end) bytes.copyWithin(end, run.start, run.end);
    end += run.end - run.start;
  }
  return bytes.subarray(from, end);
}

/** Yields the spans of successive packets of one PID. Most packets are of the video, so spans are long. */
function* listRuns(bytes: Uint8Array, from: number, pid: number): Generator<{ start: number; end: number }> {
  let start = from;
  let offset = from;
  for (; offset + packetBytes <= bytes.length; offset += packetBytes) {
    if (readPid(bytes, offset) === pid) continue;
    if (offset > start) yield { start, end: offset };
    start = offset + packetBytes;
  }
  if (offset > start) yield { start, end: offset };
}

/** Reads 16 bits, beyond the end as 0. */
export function readUint16(bytes: Uint8Array, offset: number): number {
  return readByte(bytes, offset) * 256 + readByte(bytes, offset + 1);
}

/** Reads a byte, beyond the end as 0, which matches no identifier. */
export function readByte(bytes: Uint8Array, offset: number): number {
  return bytes[offset] ?? 0;
}

function hasAdaptationField(bytes: Uint8Array, offset: number): boolean {
  return (readByte(bytes, offset + 3) & 0x20) !== 0;
}

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
  let offset = 0;
  for (; offset + (isEnd ? packetBytes : stride + 1) <= bytes.length; offset += hasPacket() ? stride : 1)
    if (hasPacket()) packets.push(bytes.subarray(offset, offset + packetBytes));
  return { plain: Buffer.concat(packets), rest: bytes.subarray(offset) };

  function hasPacket(): boolean {
    return (
      hasSyncByte(bytes, offset) && (hasSyncByte(bytes, offset + stride) || offset + stride >= bytes.length)
    );
  }
}
