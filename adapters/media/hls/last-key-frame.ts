const packetBytes = 188;
const syncByte = 0x47;

/**
 * The last key frame of a segment of MPEG-TS with the tables that tell how to read it, else null: where it is not marked, or the segment
 * is of an uncommon kind. A frame needs no more of it, and ffmpeg then reads a tenth of the bytes and makes one picture instead of one of each key frame.
 */
export function lastKeyFrame(segment: Uint8Array): Uint8Array | null {
  const tables: Uint8Array[] = [];
  let programPid: number | null = null;
  let videoPid: number | null = null;
  let from: number | null = null;
  let to: number | null = null;
  for (let at = 0; at + packetBytes <= segment.length; at += packetBytes) {
    const packet = segment.subarray(at, at + packetBytes);
    if (packet[0] !== syncByte) return null;
    const pid = pidOf(packet);
    if (pid === 0 && programPid === null) {
      programPid = programPidOf(packet);
      if (programPid === null) return null;
      tables.push(packet);
    } else if (pid === programPid && videoPid === null) {
      videoPid = videoPidOf(packet);
      if (videoPid === null) return null;
      tables.push(packet);
    } else if (pid === videoPid && startsUnit(packet)) {
      if (isRandomAccess(packet)) [from, to] = [at, segment.length];
      else if (to === segment.length) to = at;
    }
  }
  if (from === null || to === null) return null;
  return Buffer.concat([...tables, ...packetsOf(segment.subarray(from, to), videoPid)]);
}

/** Sound and what else lies between is left out. */
function packetsOf(bytes: Uint8Array, pid: number | null): Uint8Array[] {
  const packets: Uint8Array[] = [];
  for (let at = 0; at + packetBytes <= bytes.length; at += packetBytes) {
    const packet = bytes.subarray(at, at + packetBytes);
    if (pidOf(packet) === pid) packets.push(packet);
  }
  return packets;
}

// ISO/IEC 13818-1: packets 2.4.3.2, adaptation field 2.4.3.4, association table 2.4.4.3, map table 2.4.4.8.

function pidOf(packet: Uint8Array): number {
  return (byte(packet, 1) & 0x1f) * 256 + byte(packet, 2);
}

function startsUnit(packet: Uint8Array): boolean {
  return (byte(packet, 1) & 0x40) !== 0;
}

function isRandomAccess(packet: Uint8Array): boolean {
  return hasAdaptation(packet) && byte(packet, 4) > 0 && (byte(packet, 5) & 0x40) !== 0;
}

function hasAdaptation(packet: Uint8Array): boolean {
  return (byte(packet, 3) & 0x20) !== 0;
}

/** Of the only program; null where there are several, or the table does not begin and end in this packet. */
function programPidOf(packet: Uint8Array): number | null {
  const section = sectionOf(packet, 0x00);
  if (section === null) return null;
  const programs: number[] = [];
  for (let at = 8; at + 4 <= section.length - checksumBytes; at += 4) {
    const number = word(section, at);
    // 0 is the network's information.
    if (number !== 0) programs.push(word(section, at + 2) & 0x1fff);
  }
  return programs.length === 1 ? (programs[0] ?? null) : null;
}

function videoPidOf(packet: Uint8Array): number | null {
  const section = sectionOf(packet, 0x02);
  if (section === null) return null;
  for (let at = 12 + (word(section, 10) & 0x0fff); at + 5 <= section.length - checksumBytes;) {
    if (videoTypes.has(byte(section, at))) return word(section, at + 1) & 0x1fff;
    at += 5 + (word(section, at + 3) & 0x0fff);
  }
  return null;
}

/** MPEG-2, MPEG-4, H.264, H.265 */
const videoTypes = new Set([0x02, 0x10, 0x1b, 0x24]);

const checksumBytes = 4;

function sectionOf(packet: Uint8Array, tableId: number): Uint8Array | null {
  if (!startsUnit(packet)) return null;
  const payload = hasAdaptation(packet) ? 5 + byte(packet, 4) : 4;
  const start = payload + 1 + byte(packet, payload);
  const section = packet.subarray(start, start + 3 + (word(packet, start + 1) & 0x0fff));
  const isWhole = section.length === 3 + (word(packet, start + 1) & 0x0fff);
  return isWhole && section[0] === tableId ? section : null;
}

function word(bytes: Uint8Array, at: number): number {
  return byte(bytes, at) * 256 + byte(bytes, at + 1);
}

/** Beyond the end there is nothing that could be taken for something. */
function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
