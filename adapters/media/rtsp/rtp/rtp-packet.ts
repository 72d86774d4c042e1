import { readByte, readUint16 } from '../../mpeg-ts/packet.ts';

/** Video packet of RTP (RFC 3550, 5.1). */
export type RtpPacket = {
  payloadType: number;
  /** 16 bits, one more with each packet. */
  sequence: number;
  /** 32 bits, the same for all packets of an access unit. */
  timestamp: number;
  /** Source of the packets (SSRC), a random number of the session. */
  source: number;
  /** The server marks the last packet of an access unit. */
  isMarked: boolean;
  payload: Uint8Array;
};

const interleavedHeadBytes = 4;
const rtpHeadBytes = 12;

/** Parses an interleaved RTP packet, including its four-byte header. Returns null if it is too short. */
export function readRtp(frame: Uint8Array): RtpPacket | null {
  const { length } = frame;
  if (length < interleavedHeadBytes + rtpHeadBytes) return null;
  const [flags, marked] = [readByte(frame, 4), readByte(frame, 5)];
  let start = interleavedHeadBytes + rtpHeadBytes + 4 * (flags & 0x0f);
  const hasExtension = (flags & 0x10) !== 0;
  if (hasExtension && length >= start + 4) start += 4 + 4 * readUint16(frame, start + 2);
  const paddingBytes = (flags & 0x20) !== 0 ? readByte(frame, length - 1) : 0;
  return {
    payloadType: marked & 0x7f,
    sequence: readUint16(frame, 6),
    timestamp: readUint16(frame, 8) * 2 ** 16 + readUint16(frame, 10),
    source: readUint16(frame, 12) * 2 ** 16 + readUint16(frame, 14),
    isMarked: (marked & 0x80) !== 0,
    payload: frame.subarray(start, Math.max(start, length - paddingBytes)),
  };
}

/** Returns the signed difference of two RTP timestamps, which may have wrapped. */
export function rtpDifference(from: number, to: number): number {
  return (to - from) | 0;
}
