import { createAccessUnitAssembler } from '../../../../../adapters/media/rtsp/rtp/access-unit-assembler.ts';
import { nalRules } from '../../../../../adapters/media/rtsp/rtp/nal-units.ts';
import { writeRtp, type WrittenPacket } from '../../../../support/rtsp/rtp-packets.ts';

type Codec = 'H264' | 'H265';
export type Packet = Omit<WrittenPacket, 'sequence'> & { sequence?: number };

export const fmtp = 'packetization-mode=1;sprop-parameter-sets=ZwE=,aAI=';
export const start = [0, 0, 0, 1];
export const [sps, pps, idr, slice] = [
  [0x67, 1],
  [0x68, 2],
  [0x65, 0x88],
  [0x41, 0x9a],
];

/** Returns the access units of packets, as hexadecimal without start codes, with `K` for key frames. */
export function assemble(
  packets: Packet[],
  { codec = 'H264', parameters = fmtp }: { codec?: Codec; parameters?: string | null } = {},
) {
  const rules = nalRules({ codec, parameters })!;
  const assembler = createAccessUnitAssembler({ payloadType: 96, parameters }, rules);
  const units = packets.map((packet, index) => {
    const frame = writeRtp({ sequence: 65_533 + index, ...packet });
    // A reader hands out parts of a chunk that it reuses.
    const unit = assembler.push(frame, 100 * index);
    frame.fill(0xee);
    return unit;
  });
  return units
    .filter((unit) => unit !== null)
    .map(({ bytes, isKeyFrame }) => `${isKeyFrame ? 'K ' : ''}${show(bytes)}`);
}

export const show = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('hex').split('00000001').filter(Boolean).join(' ');
export const at = (timestamp: number, payload: number[], more: Partial<Packet> = {}): Packet => ({
  timestamp,
  payload,
  ...more,
});
/** The key frame of `idr`, as `assemble` writes it. */
export const keyFrame = 'K 6701 6802 6588';
