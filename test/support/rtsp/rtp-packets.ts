/** One RTP packet as test tables write it. */
export type WrittenPacket = {
  sequence: number;
  timestamp: number;
  payload: number[] | Uint8Array;
  isMarked?: boolean;
  payloadType?: number;
  paddingBytes?: number;
  source?: number;
};

/** Formats an interleaved packet on channel 0, including its four-byte header. */
export function writeRtp(packet: WrittenPacket): Buffer {
  const {
    sequence,
    timestamp,
    payload,
    isMarked = false,
    payloadType = 96,
    paddingBytes = 0,
    source = 0,
  } = packet;
  const padding = Buffer.alloc(paddingBytes);
  if (paddingBytes > 0) padding[paddingBytes - 1] = paddingBytes;
  const head = Buffer.alloc(16);
  head.set([0x24, 0, 0, 0, paddingBytes > 0 ? 0xa0 : 0x80, payloadType | (isMarked ? 0x80 : 0)]);
  head.writeUInt16BE(12 + payload.length + paddingBytes, 2);
  head.writeUInt16BE(sequence & 0xffff, 6);
  head.writeUInt32BE(timestamp >>> 0, 8);
  head.writeUInt32BE(source, 12);
  return Buffer.concat([head, Buffer.from(payload), padding]);
}
