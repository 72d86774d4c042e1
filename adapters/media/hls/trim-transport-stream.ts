import {
  packetBytes,
  packetsWithPid,
  packetPayload,
  indexTransportStream,
  startsPayloadUnit,
} from './transport-stream.ts';

const ptsPerSecond = 90_000;
/** Range of 33-bit timestamps: they wrap after 26.5 hours. */
const allTicks = 2 ** 33;

/** PTS, in seconds, at which the last frame of a trimmed clip ends. It exceeds the length of every clip and GOP. */
export const clipEndPtsSeconds = 3600;
const lastPictureTicks = clipEndPtsSeconds * ptsPerSecond - 90;

/**
 * Trims MPEG-TS to PAT, PMT and video from the key frame before the last `seconds`; rebases PTS/DTS. The fixed end
 * lets ffmpeg start before its input is known. Returns null if the timestamps or tables are unreadable (ISO/IEC
 * 13818-1).
 */
export function trimToLastSeconds(bytes: Uint8Array, seconds: number): Uint8Array | null {
  const found = indexTransportStream(bytes);
  if (found === null) return null;
  const times = readTimes(bytes, found.accessUnits);
  if (times === null) return null;
  const newest = times.reduce((latest, time) => (ticksBetween(latest, time) > 0 ? time : latest));
  const age = times.map((time) => ticksBetween(time, newest));
  const start = found.accessUnits.findLastIndex(
    ({ isKeyFrame }, index) => isKeyFrame && (age[index] ?? 0) >= seconds * ptsPerSecond,
  );
  const from = found.accessUnits[Math.max(0, start)]?.at ?? 0;
  const cut = Buffer.concat([...found.tables, ...packetsWithPid(bytes.subarray(from), found.videoPid)]);
  moveTimes(cut.subarray(found.tables.length * packetBytes), lastPictureTicks - newest);
  return cut;
}

/** Returns null if a timestamp is missing or the list is empty. */
function readTimes(bytes: Uint8Array, pictures: { at: number }[]): number[] | null {
  const times = pictures.map(({ at }) => {
    const [field] = timeFields(bytes.subarray(at, at + packetBytes));
    return field === undefined ? null : readTime(field);
  });
  const known = times.filter((time) => time !== null);
  return known.length === 0 || known.length < times.length ? null : known;
}

function moveTimes(packets: Buffer, byTicks: number): void {
  for (let at = 0; at < packets.length; at += packetBytes) {
    const packet = packets.subarray(at, at + packetBytes);
    if (!startsPayloadUnit(packet)) continue;
    for (const field of timeFields(packet)) writeTime(field, readTime(field) + byTicks);
  }
}

/** Returns the PTS field of a video PES packet and, if present, its DTS field. */
function timeFields(packet: Uint8Array): Buffer[] {
  const payload = packetPayload(packet);
  const pes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (pes.length < 19 || pes.readUIntBE(0, 3) !== 1 || (pes.readUInt8(3) & 0xf0) !== 0xe0) return [];
  const present = pes.readUInt8(7) >> 6;
  return [9, 14].slice(0, present === 3 ? 2 : present === 2 ? 1 : 0).map((at) => pes.subarray(at, at + 5));
}

/** Reads 33 bits from three fields, each followed by a marker bit. */
function readTime(field: Buffer): number {
  const [high, middle, low] = [field.readUInt8(0), field.readUInt16BE(1), field.readUInt16BE(3)];
  return ((high >> 1) & 0x07) * 2 ** 30 + (middle >> 1) * 2 ** 15 + (low >> 1);
}

function writeTime(field: Buffer, ticks: number): void {
  const time = ((ticks % allTicks) + allTicks) % allTicks;
  const high = Math.floor(time / 2 ** 30);
  field.writeUInt8((field.readUInt8(0) & 0xf0) | (high << 1) | 1, 0);
  field.writeUInt16BE((Math.floor(time / 2 ** 15) % 2 ** 15) * 2 + 1, 1);
  field.writeUInt16BE((time % 2 ** 15) * 2 + 1, 3);
}

function ticksBetween(from: number, to: number): number {
  return ((to - from + allTicks * 1.5) % allTicks) - allTicks / 2;
}
