import { h264Units, h265Units, type UnitRules } from '../h264/entry-point.ts';
import { packetPayload, readByte, readPid, readUint16, startsPayloadUnit } from './packet.ts';

// Program specific information (PSI). Program association table (PAT): ISO/IEC 13818-1, 2.4.4.3. Program map table
// (PMT): 2.4.4.8.

/** Video stream of a PMT. `rules` is null for codecs other than H.264 and H.265. */
export type VideoStream = { pid: number; rules: UnitRules | null };

type Table = { parts: Uint8Array[]; section: Uint8Array | null; packets: Uint8Array[] };

const maxSectionBytes = 1024 + 3;
/**
 * Maximum packets of tables that are read: five minutes of both tables, 25 times a second. A segment may consist of
 * them.
 */
const maxPackets = 15_000;
const [patId, pmtId] = [0x00, 0x02];

/** Creates a reader of the tables of a stream of one program. Their sections may span packets, and share them. */
export function createTableReader() {
  const pat = createTable();
  let pmt = createTable();
  let pmtPid: number | null = null;
  let packets = 0;
  let streams: { type: number; pid: number }[] = [];
  let video: VideoStream | null = null;
  return {
    read,
    /** Returns true if a packet without a start can belong to a table. */
    isWithin: () => packets <= maxPackets && (pat.parts.length > 0 || pmt.parts.length > 0),
    /** Returns true after a PAT of one program. */
    hasProgram: () => pmtPid !== null,
    /** First video stream of the newest PMT; null before one. */
    video: () => video,
    /** Types of all streams of the newest PMT. */
    types: () => streams.map(({ type }) => type),
    /** Packets of the newest PAT and PMT. */
    packets: (): Uint8Array[] => [...pat.packets, ...pmt.packets],
  };

  /** Reads a packet. Returns true if it belongs to a table. */
  function read(packet: Uint8Array): boolean {
    const pid = readPid(packet);
    if (pid !== 0 && pid !== pmtPid) return false;
    packets += 1;
    if (packets > maxPackets) return true;
    if (pid === 0 && readTable(pat, packet, patId) && pat.section) {
      const named = readPmtPid(pat.section) ?? pmtPid;
      if (named !== pmtPid) pmt = createTable();
      pmtPid = named;
    }
    if (pid === pmtPid && readTable(pmt, packet, pmtId) && pmt.section) {
      streams = readStreams(pmt.section);
      video = findVideo(streams);
    }
    return pid === 0 || pid === pmtPid;
  }
}

function createTable(): Table {
  return { parts: [], section: null, packets: [] };
}

/** Reads a packet of a table. Returns true if a section of it is complete. */
function readTable(table: Table, packet: Uint8Array, tableId: number): boolean {
  const begins = startsPayloadUnit(packet);
  if (!begins && table.parts.length === 0) return false;
  if (begins) table.parts = [];
  table.parts.push(packet);
  const [first, ...others] = table.parts.map((part) => packetPayload(part));
  if (first === undefined) return false;
  const bytes = Buffer.concat([first.subarray(1 + readByte(first, 0)), ...others]);
  for (let offset = 0; offset + 3 <= bytes.length && bytes[offset] !== stuffing;) {
    const end = offset + 3 + (readUint16(bytes, offset + 1) & 0x0fff);
    if (end > bytes.length && bytes.length < maxSectionBytes) return false;
    const isCurrent = (readByte(bytes, offset + 5) & 1) === 1;
    if (bytes[offset] === tableId && isCurrent && end <= bytes.length) {
      const section = bytes.subarray(offset, end);
      if (table.section === null || section.compare(table.section) !== 0)
        [table.section, table.packets] = [section, table.parts];
      table.parts = [];
      return true;
    }
    offset = end;
  }
  table.parts = [];
  return false;
}

/** Returns null if there are several programs. */
function readPmtPid(section: Uint8Array): number | null {
  const programs: number[] = [];
  for (let offset = 8; offset + 4 <= section.length - checksumBytes; offset += 4) {
    // Program number 0 refers to the network information table.
    if (readUint16(section, offset) !== 0) programs.push(readUint16(section, offset + 2) & 0x1fff);
  }
  return programs.length === 1 ? (programs[0] ?? null) : null;
}

function readStreams(section: Uint8Array): { type: number; pid: number }[] {
  const streams: { type: number; pid: number }[] = [];
  for (let offset = 12 + (readUint16(section, 10) & 0x0fff); offset + 5 <= section.length - checksumBytes;) {
    streams.push({ type: readByte(section, offset), pid: readUint16(section, offset + 1) & 0x1fff });
    offset += 5 + (readUint16(section, offset + 3) & 0x0fff);
  }
  return streams;
}

function findVideo(streams: readonly { type: number; pid: number }[]): VideoStream | null {
  for (const { type, pid } of streams) {
    const rules = videoStreamTypes.get(type);
    if (rules !== undefined) return { pid, rules };
  }
  return null;
}

/** Stream types of MPEG-2, MPEG-4, H.264 and H.265. */
const videoStreamTypes = new Map([
  [0x02, null],
  [0x10, null],
  [0x1b, h264Units],
  [0x24, h265Units],
]);

const checksumBytes = 4;
const stuffing = 0xff;
