/** Video packet of RTP (RFC 3550, 5.1). */
export type RtpPacket = {
  payloadType: number;
  /** 16 bits, one more with each packet. */
  sequence: number;
  /** 32 bits, the same for all packets of an access unit. */
  timestamp: number;
  /** The server marks the last packet of an access unit. */
  isMarked: boolean;
  payload: Uint8Array;
};

const interleavedHeadBytes = 4;
const rtpHeadBytes = 12;

/** Parses an interleaved RTP packet, including its four-byte header. Returns null if it is too short. */
export function readRtp(frame: Uint8Array): RtpPacket | null {
  const rtp = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).subarray(interleavedHeadBytes);
  if (rtp.length < rtpHeadBytes) return null;
  const [flags, marked] = [rtp.readUInt8(0), rtp.readUInt8(1)];
  let start = rtpHeadBytes + 4 * (flags & 0x0f);
  const hasExtension = (flags & 0x10) !== 0;
  if (hasExtension && rtp.length >= start + 4) start += 4 + 4 * rtp.readUInt16BE(start + 2);
  const paddingBytes = (flags & 0x20) !== 0 ? (rtp.at(-1) ?? 0) : 0;
  return {
    payloadType: marked & 0x7f,
    sequence: rtp.readUInt16BE(2),
    timestamp: rtp.readUInt32BE(4),
    isMarked: (marked & 0x80) !== 0,
    payload: rtp.subarray(start, Math.max(start, rtp.length - paddingBytes)),
  };
}

/** Returns the signed difference of two RTP timestamps, which may have wrapped. */
export function rtpDifference(from: number, to: number): number {
  return (to - from) | 0;
}
