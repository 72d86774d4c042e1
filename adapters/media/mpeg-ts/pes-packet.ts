import { readByte, readUint16 } from './packet.ts';

/** Bytes of the head of a PES packet before its optional fields, whose length is the last of them. */
export const pesHeaderBytes = 9;
/** Unit of PTS and DTS: 90 kHz. */
export const ptsPerSecond = 90_000;
/** Number of 33-bit timestamps: they wrap after 26.5 hours. */
const ptsRange = 2 ** 33;

// PES packets: ISO/IEC 13818-1, 2.4.3.6 and 2.4.3.7. Each function takes the payload of the packet that starts one.

/** Returns true if the PES packet has a PTS. Some encoders split an access unit: only its first PES packet has one. */
export function hasPts(pes: Uint8Array): boolean {
  return (readByte(pes, 7) & 0x80) !== 0;
}

/** Returns the PTS of a video PES packet. Returns null if it has none, or its timestamps are not whole. */
export function readPts(pes: Uint8Array): number | null {
  const [pts] = timestampOffsets(pes);
  return pts === undefined ? null : readTimestamp(pes, pts);
}

/** Adds to the PTS and the DTS of a video PES packet, in place. */
export function shiftTimestamps(pes: Uint8Array, by: number): void {
  for (const offset of timestampOffsets(pes)) writeTimestamp(pes, offset, readTimestamp(pes, offset) + by);
}

/** Returns the signed difference of two timestamps, which may have wrapped. */
export function ptsDifference(from: number, to: number): number {
  return ((to - from + ptsRange * 1.5) % ptsRange) - ptsRange / 2;
}

/** Returns the offset of the PTS and, if present, of the DTS. */
function timestampOffsets(pes: Uint8Array): number[] {
  const isVideo = readUint16(pes, 0) === 0 && pes[2] === 1 && (readByte(pes, 3) & 0xf0) === 0xe0;
  const flags = readByte(pes, 7) >> 6;
  const offsets = flags === 3 ? [9, 14] : flags === 2 ? [9] : [];
  return isVideo && pes.length >= 9 + 5 * offsets.length ? offsets : [];
}

/** Reads 33 bits from three fields, each followed by a marker bit. */
function readTimestamp(pes: Uint8Array, offset: number): number {
  const high = (readByte(pes, offset) >> 1) & 0x07;
  return high * 2 ** 30 + (readUint16(pes, offset + 1) >> 1) * 2 ** 15 + (readUint16(pes, offset + 3) >> 1);
}

/** Writes 33 bits into three fields, and keeps the upper half of the first byte. */
export function writeTimestamp(pes: Uint8Array, offset: number, timestamp: number): void {
  const wrapped = ((timestamp % ptsRange) + ptsRange) % ptsRange;
  pes[offset] = (readByte(pes, offset) & 0xf0) | (Math.floor(wrapped / 2 ** 30) << 1) | 1;
  writeMarked(pes, offset + 1, Math.floor(wrapped / 2 ** 15) % 2 ** 15);
  writeMarked(pes, offset + 3, wrapped % 2 ** 15);
}

function writeMarked(pes: Uint8Array, offset: number, bits: number): void {
  pes[offset] = bits >> 7;
  pes[offset + 1] = ((bits & 0x7f) << 1) | 1;
}
