import type { RtpPacket } from './rtp-packet.ts';

/**
 * Place of a packet in its stream: the next one, the first after lost ones, or none: repeated, late, or of another
 * session.
 */
export type PacketPlace = 'next' | 'after loss' | 'none';

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
