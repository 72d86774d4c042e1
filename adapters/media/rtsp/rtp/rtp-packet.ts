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

/**
 * Place of a packet in its stream: the next one, the first after lost ones, or none: repeated, late, or of another
 * session.
 */
type PacketPlace = 'next' | 'after loss' | 'none';

/** Packets of another source in a row after which the source has changed: the encoder has started again. */
const maxForeign = 64;
/** Maximum distance of a packet that is repeated or late. */
const maxLate = 256;

/**
 * Creates the order of the packets of one track. Some servers send those of a session that has ended in the same
 * channel: they have another source, and sequence numbers of their own.
 */
export function createPacketOrder(): (packet: RtpPacket) => PacketPlace {
  let before: Pick<RtpPacket, 'source' | 'sequence' | 'isMarked'> | null = null;
  let foreign = 0;
  return (packet) => {
    if (before === null) return take(packet, 'next');
    const step = (packet.sequence - before.sequence) & 0xffff;
    if (packet.source !== before.source) {
      // Some encoders change it between two pictures.
      if (step === 1 && before.isMarked) return take(packet, 'next');
      foreign += 1;
      return foreign > maxForeign ? take(packet, 'after loss') : 'none';
    }
    foreign = 0;
    if (step === 0 || step > 0xffff - maxLate) return 'none';
    return take(packet, step === 1 ? 'next' : 'after loss');
  };

  function take({ source, sequence, isMarked }: RtpPacket, place: PacketPlace): PacketPlace {
    before = { source, sequence, isMarked };
    foreign = 0;
    return place;
  }
}
