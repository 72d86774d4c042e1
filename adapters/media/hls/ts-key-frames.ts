const packetBytes = 188;
const syncByte = 0x47;
const ticksPerSecond = 90_000;

/**
 * Returns the seconds from the first frame of an MPEG-TS segment to its last key frame. Returns null if no key
 * frame is marked with the random access indicator, as all HLS encoders do (ISO/IEC 13818-1).
 */
export function lastKeyFrameOffsetTs(segment: Uint8Array): number | null {
  const bytes = Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength);
  let base: number | null = null;
  let first = 0;
  let last: number | null = null;
  for (
    let at = nextPacket(bytes, 0);
    at + packetBytes <= bytes.length;
    at = nextPacket(bytes, at + packetBytes)
  ) {
    // One packet in a hundred starts an access unit; all others are skipped early.
    if (((bytes[at + 1] ?? 0) & 0x40) === 0) continue;
    const picture = readPicture(bytes.subarray(at, at + packetBytes));
    if (picture === null) continue;
    base ??= picture.ticks;
    const ticks = ticksBetween(base, picture.ticks);
    first = Math.min(first, ticks);
    if (picture.isKeyFrame) last = ticks;
  }
  return last === null ? null : (last - first) / ticksPerSecond;
}

/** Returns the offset of the next packet. Skips bytes that are not a packet. */
function nextPacket(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const follows = at + packetBytes >= bytes.length || bytes[at + packetBytes] === syncByte;
    if (bytes[at] === syncByte && follows) return at;
  }
  return bytes.length;
}

/** Reads the PTS of the access unit that starts in this packet. Returns null if it has none. */
function readPicture(packet: Buffer): { ticks: number; isKeyFrame: boolean } | null {
  const control = packet.readUInt8(3) & 0x30;
  if ((control & 0x10) === 0) return null;
  const hasAdaptation = (control & 0x20) !== 0;
  const adaptationBytes = hasAdaptation ? packet.readUInt8(4) : 0;
  const isKeyFrame = adaptationBytes > 0 && (packet.readUInt8(5) & 0x40) !== 0;
  const payload = packet.subarray(4 + (hasAdaptation ? 1 + adaptationBytes : 0));
  const ticks = readTimestamp(payload);
  return ticks === null ? null : { ticks, isKeyFrame };
}

/** Reads the PTS of a video PES packet: 33 bits in three fields. */
function readTimestamp(pes: Buffer): number | null {
  if (pes.length < 14 || pes.readUIntBE(0, 3) !== 1 || (pes.readUInt8(3) & 0xf0) !== 0xe0) return null;
  if ((pes.readUInt8(7) & 0x80) === 0) return null;
  const [high, middle, low] = [pes.readUInt8(9), pes.readUInt16BE(10), pes.readUInt16BE(12)];
  return ((high >> 1) & 0x07) * 2 ** 30 + (middle >> 1) * 2 ** 15 + (low >> 1);
}

/** Returns the signed distance of two timestamps, which wrap after 26.5 hours. */
function ticksBetween(from: number, to: number): number {
  const all = 2 ** 33;
  return ((to - from + all * 1.5) % all) - all / 2;
}
