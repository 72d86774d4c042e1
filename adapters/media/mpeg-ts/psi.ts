import { h264Units, h265Units, type UnitRules } from '../h264/entry-point.ts';
import { packetPayload, readByte, readUint16 } from './packet.ts';

// Program specific information (PSI). Program association table (PAT): ISO/IEC 13818-1, 2.4.4.3. Program map table
// (PMT): 2.4.4.8.

/**
 * Returns the PID of the PMT from the PAT that starts in this packet. Returns null if there are several programs, or
 * the section does not fit into the packet.
 */
export function readPmtPid(packet: Uint8Array): number | null {
  const section = readSection(packet, 0x00);
  if (section === null) return null;
  const programs: number[] = [];
  for (let at = 8; at + 4 <= section.length - checksumBytes; at += 4) {
    // Program number 0 refers to the network information table.
    if (readUint16(section, at) !== 0) programs.push(readUint16(section, at + 2) & 0x1fff);
  }
  return programs.length === 1 ? (programs[0] ?? null) : null;
}

/** Video stream of a PMT. `rules` is null for codecs other than H.264 and H.265. */
export type VideoStream = { pid: number; rules: UnitRules | null };

/** Returns the first video stream from the PMT that starts in this packet, or null as for the PAT. */
export function readVideoStream(packet: Uint8Array): VideoStream | null {
  for (const { type, pid } of readStreams(packet) ?? []) {
    const rules = videoStreamTypes.get(type);
    if (rules !== undefined) return { pid, rules };
  }
  return null;
}

/** Returns the types of all streams of the PMT that starts in this packet, or null as for the PAT. */
export function readStreamTypes(packet: Uint8Array): number[] | null {
  return readStreams(packet)?.map(({ type }) => type) ?? null;
}

function readStreams(packet: Uint8Array): { type: number; pid: number }[] | null {
  const section = readSection(packet, 0x02);
  if (section === null) return null;
  const streams: { type: number; pid: number }[] = [];
  for (let at = 12 + (readUint16(section, 10) & 0x0fff); at + 5 <= section.length - checksumBytes;) {
    streams.push({ type: readByte(section, at), pid: readUint16(section, at + 1) & 0x1fff });
    at += 5 + (readUint16(section, at + 3) & 0x0fff);
  }
  return streams;
}

/** Stream types of MPEG-2, MPEG-4, H.264 and H.265. */
const videoStreamTypes = new Map([
  [0x02, null],
  [0x10, null],
  [0x1b, h264Units],
  [0x24, h265Units],
]);

const checksumBytes = 4;

function readSection(packet: Uint8Array, tableId: number): Uint8Array | null {
  const payload = packetPayload(packet);
  const start = 1 + readByte(payload, 0);
  const length = 3 + (readUint16(payload, start + 1) & 0x0fff);
  const section = payload.subarray(start, start + length);
  const isWhole = section.length === length;
  return isWhole && section[0] === tableId ? section : null;
}
