import { packetBytes } from './packet.ts';
import { writeTimestamp } from './pes-packet.ts';

/** Access unit in Annex B format with its presentation time, in units of 90 kHz. */
export type TimedUnit = { bytes: Uint8Array; isKeyFrame: boolean; pts: number };

const streamTypes = { H264: 0x1b, H265: 0x24 } as const;
const [patPid, pmtPid, videoPid] = [0, 0x1000, 0x100];
/** PID of the video in a PMT, as clock and as stream, each followed by an empty list of descriptors. */
const videoReference = [0xe0 | (videoPid >> 8), videoPid & 0xff, 0xf0, 0];

/** Writes access units in decoding order as MPEG-TS: PAT, PMT, and one PES packet per unit. */
export function writeTransportStream(codec: keyof typeof streamTypes, units: readonly TimedUnit[]): Buffer {
  const times = decodingTimes(units.map(({ pts }) => pts));
  let packets = 0;
  const video = units.flatMap(({ bytes, isKeyFrame, pts }, index) => {
    const written = packetize(Buffer.concat([pesHead(pts, times[index] ?? pts), bytes]), {
      pid: videoPid,
      isKeyFrame,
      counter: packets,
    });
    packets += written.length / packetBytes;
    return written;
  });
  return Buffer.concat([
    writeSection(patPid, 0x00, [0, 1, 0xe0 | (pmtPid >> 8), pmtPid & 0xff]),
    writeSection(pmtPid, 0x02, [...videoReference, streamTypes[codec], ...videoReference]),
    ...video,
  ]);
}

/** Returns growing decoding times, each at or before its presentation time: RTP has presentation times only. */
function decodingTimes(pts: number[]): number[] {
  const sorted = pts.toSorted((one, other) => one - other);
  const delay = sorted.reduce((most, time, index) => Math.max(most, time - (pts[index] ?? time)), 0);
  return sorted.map((time) => time - delay);
}

/** Returns the header of a PES packet of unbounded length with PTS and DTS. */
function pesHead(pts: number, dts: number): Uint8Array {
  const head = Uint8Array.of(0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 10, 0x30, 0, 0, 0, 0, 0x10, 0, 0, 0, 0);
  writeTimestamp(head, 9, pts);
  writeTimestamp(head, 14, dts);
  return head;
}

type PacketOptions = { pid: number; isKeyFrame: boolean; counter: number };

const payloadBytes = packetBytes - 4;

/** Splits a PES packet or section into packets. An adaptation field fills the last one, and marks a key frame. */
function packetize(payload: Uint8Array, { pid, isKeyFrame, counter }: PacketOptions): Buffer {
  const room = isKeyFrame ? payloadBytes - 2 : payloadBytes;
  const rest = Math.max(0, payload.length - room);
  const written = Buffer.alloc((1 + Math.ceil(rest / payloadBytes)) * packetBytes, 0xff);
  for (let offset = 0, from = 0; offset < written.length; offset += packetBytes) {
    const isFirst = offset === 0;
    const taken = payload.subarray(from, from + (isFirst ? room : payloadBytes));
    const fieldBytes = payloadBytes - taken.length;
    const head = [0x47, (isFirst ? 0x40 : 0) | (pid >> 8), pid & 0xff];
    const index = (counter + offset / packetBytes) & 0x0f;
    written.set([...head, (fieldBytes > 0 ? 0x30 : 0x10) | index], offset);
    if (fieldBytes > 0) written[offset + 4] = fieldBytes - 1;
    if (fieldBytes > 1) written[offset + 5] = isFirst && isKeyFrame ? 0x40 : 0;
    written.set(taken, offset + packetBytes - taken.length);
    from += taken.length;
  }
  return written;
}

/** Writes a section of program 1, version 0, in one packet. */
function writeSection(pid: number, tableId: number, body: number[]): Buffer {
  const lengthBytes = body.length + 9;
  const section = Uint8Array.from([tableId, 0xb0, lengthBytes, 0, 1, 0xc1, 0, 0, ...body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32Mpeg(section));
  const packet = Buffer.alloc(packetBytes, 0xff);
  packet.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10, 0, ...section, ...checksum]);
  return packet;
}

/** Computes the checksum of sections (ISO/IEC 13818-1, annex A). That of zlib reflects its bits. */
function crc32Mpeg(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
