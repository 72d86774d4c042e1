/** Size of a packet, in bytes. */
export const packetBytes = 188;
const syncByte = 0x47;

/** Index of an MPEG-TS segment: PAT and PMT packets, video PID, offset of each access unit. */
export type TransportStreamIndex = {
  /** Packets of the PAT and the PMT. */
  tables: Uint8Array[];
  videoPid: number;
  accessUnits: { at: number; isKeyFrame: boolean }[];
};

/**
 * Indexes an MPEG-TS segment, in decoding order. Returns null for unusual input: several programs, tables over
 * several packets, incomplete packets.
 */
export function indexTransportStream(bytes: Uint8Array): TransportStreamIndex | null {
  const tables: Uint8Array[] = [];
  const accessUnits: TransportStreamIndex['accessUnits'] = [];
  let programPid: number | null = null;
  let videoPid: number | null = null;
  for (let at = 0; at + packetBytes <= bytes.length; at += packetBytes) {
    const packet = bytes.subarray(at, at + packetBytes);
    if (packet[0] !== syncByte) return null;
    const pid = readPid(packet);
    if (pid === 0 && programPid === null) {
      programPid = readProgramPid(packet);
      if (programPid === null) return null;
      tables.push(packet);
    } else if (pid === programPid && videoPid === null) {
      videoPid = readVideoPid(packet);
      if (videoPid === null) return null;
      tables.push(packet);
    } else if (pid === videoPid && startsPayloadUnit(packet) && (isRandomAccess(packet) || hasTime(packet))) {
      accessUnits.push({ at, isKeyFrame: isRandomAccess(packet) });
    }
  }
  return videoPid === null ? null : { tables, videoPid, accessUnits };
}

/** Returns the packets of one PID, without audio and other streams. */
export function packetsWithPid(bytes: Uint8Array, pid: number): Uint8Array[] {
  const packets: Uint8Array[] = [];
  for (let at = 0; at + packetBytes <= bytes.length; at += packetBytes) {
    const packet = bytes.subarray(at, at + packetBytes);
    if (readPid(packet) === pid) packets.push(packet);
  }
  return packets;
}

/** Returns the payload of a packet: the bytes after its header and adaptation field. */
export function packetPayload(packet: Uint8Array): Uint8Array {
  return packet.subarray(hasAdaptation(packet) ? 5 + byte(packet, 4) : 4);
}

// ISO/IEC 13818-1: packets 2.4.3.2, adaptation field 2.4.3.4, association table 2.4.4.3, map table 2.4.4.8.

function readPid(packet: Uint8Array): number {
  return (byte(packet, 1) & 0x1f) * 256 + byte(packet, 2);
}

/** Returns true if the packet starts a PES packet or a table section. */
export function startsPayloadUnit(packet: Uint8Array): boolean {
  return (byte(packet, 1) & 0x40) !== 0;
}

function isRandomAccess(packet: Uint8Array): boolean {
  return hasAdaptation(packet) && byte(packet, 4) > 0 && (byte(packet, 5) & 0x40) !== 0;
}

/**
 * Some encoders split an access unit over several PES packets: only the first has a PTS (ISO/IEC 13818-1, 2.4.3.7).
 */
function hasTime(packet: Uint8Array): boolean {
  return (byte(packetPayload(packet), 7) & 0x80) !== 0;
}

function hasAdaptation(packet: Uint8Array): boolean {
  return (byte(packet, 3) & 0x20) !== 0;
}

/**
 * Returns the PMT PID of the only program. Returns null if there are several, or the table does not fit into this
 * packet.
 */
function readProgramPid(packet: Uint8Array): number | null {
  const section = readSection(packet, 0x00);
  if (section === null) return null;
  const programs: number[] = [];
  for (let at = 8; at + 4 <= section.length - checksumBytes; at += 4) {
    const number = word(section, at);
    // Program number 0 refers to the network information table.
    if (number !== 0) programs.push(word(section, at + 2) & 0x1fff);
  }
  return programs.length === 1 ? (programs[0] ?? null) : null;
}

function readVideoPid(packet: Uint8Array): number | null {
  const section = readSection(packet, 0x02);
  if (section === null) return null;
  for (let at = 12 + (word(section, 10) & 0x0fff); at + 5 <= section.length - checksumBytes;) {
    if (videoTypes.has(byte(section, at))) return word(section, at + 1) & 0x1fff;
    at += 5 + (word(section, at + 3) & 0x0fff);
  }
  return null;
}

/** Stream types of MPEG-2, MPEG-4, H.264 and H.265. */
const videoTypes = new Set([0x02, 0x10, 0x1b, 0x24]);

const checksumBytes = 4;

function readSection(packet: Uint8Array, tableId: number): Uint8Array | null {
  if (!startsPayloadUnit(packet)) return null;
  const payload = packetPayload(packet);
  const start = 1 + byte(payload, 0);
  const length = 3 + (word(payload, start + 1) & 0x0fff);
  const section = payload.subarray(start, start + length);
  const isWhole = section.length === length;
  return isWhole && section[0] === tableId ? section : null;
}

function word(bytes: Uint8Array, at: number): number {
  return byte(bytes, at) * 256 + byte(bytes, at + 1);
}

/** Returns 0 beyond the end, which matches no identifier. */
function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
