import type { UnitRules } from '../h264/entry-point.ts';
import { indexAccessUnits } from './access-units.ts';
import { packetBytes, packetPayload, readByte, readPid, startsPayloadUnit, hasSyncByte } from './packet.ts';
import { pesHeaderBytes, readPts } from './pes-packet.ts';
import { listUnits } from './unit-begin.ts';
import { writeTransportStream, type TimedUnit } from './write-transport-stream.ts';

const startCode = Buffer.from([0, 0, 0, 1]);
const suffixInformation265 = 40;
const parameterSets = { H264: [7, 8, 13, 15], H265: [32, 33, 34] };

/** Rest of an access unit, and whether a part at which a strict decoder may stop is left out. */
type Tidied = { bytes: Buffer; isOdd: boolean };

/**
 * Writes the video of MPEG-TS that begins with a key frame again, with what a decoder needs of it. One that stops at
 * each error stops at wrong lengths of PES packets too, at supplemental information that it cannot read (unless it has
 * named damage within a picture), and at parameter sets between two slices. Returns null for bytes without these, and
 * for other input: several pictures in one unit, parameter sets between slices that are not those before.
 */
export function tidyTransportStream(bytes: Uint8Array, { isDamaged }: { isDamaged: boolean }): Buffer | null {
  const indexed = indexAccessUnits([bytes]);
  const { rules } = indexed?.video ?? {};
  if (!indexed || !rules) return null;
  const { accessUnits, video } = indexed;
  const units: TimedUnit[] = [];
  const leaveOut = createCleaner(rules, isDamaged);
  let isOdd = false;
  for (const [index, { at, isKeyFrame }] of accessUnits.entries()) {
    const { payloads, isWrong } = readPayloads(bytes.subarray(at, accessUnits[index + 1]?.at), video.pid);
    const pts = readPts(payloads[0] ?? new Uint8Array());
    const tidied = leaveOut(payloads);
    if (pts === null || tidied === null) return null;
    isOdd ||= isWrong || tidied.isOdd;
    units.push({ bytes: tidied.bytes, isKeyFrame, pts });
  }
  const [first] = units;
  if (!isOdd || !first || !beginsWithKeySlice(first.bytes, rules)) return null;
  return writeTransportStream(rules.codec, units);
}

/**
 * Returns payloads of packets as those of one PES packet, and whether one of those that they come from has another
 * length than it states.
 */
function readPayloads(bytes: Uint8Array, pid: number): { payloads: Uint8Array[]; isWrong: boolean } {
  const payloads: Uint8Array[] = [];
  /** Bytes that a PES packet has beyond its stated length. */
  let beyond: number | null = null;
  let isWrong = false;
  for (let offset = 0; offset + packetBytes <= bytes.length; offset += packetBytes) {
    if (readPid(bytes, offset) !== pid) continue;
    const payload = packetPayload(bytes.subarray(offset, offset + packetBytes));
    const begins = startsPayloadUnit(bytes, offset);
    if (begins) {
      isWrong ||= beyond !== null && beyond !== 0;
      const stated = readByte(payload, 4) * 256 + readByte(payload, 5);
      beyond = stated === 0 ? null : -6 - stated;
    }
    if (beyond !== null) beyond += payload.length;
    payloads.push(begins && offset > 0 ? payload.subarray(pesHeaderBytes + readByte(payload, 8)) : payload);
  }
  return { payloads, isWrong: isWrong || (beyond !== null && beyond !== 0) };
}

/**
 * Returns a function from the payloads of an access unit to what a decoder needs of them. It returns null for a unit of
 * which that cannot be told.
 */
function createCleaner(
  rules: UnitRules,
  isDamaged: boolean,
): (payloads: readonly Uint8Array[]) => Tidied | null {
  /** Parameter sets of the newest access unit that has some before its slices. */
  let sets: Buffer[] = [];
  return (payloads) => {
    const needed: Uint8Array[] = [];
    const own: Buffer[] = [];
    let [pictures, isOdd] = [0, false];
    for (const unit of Array.from(listUnits(payloads), trim)) {
      const type = rules.readType(readByte(unit, 0));
      const isSet = parameterSets[rules.codec].includes(type);
      if (rules.isSlice(type) && readByte(unit, rules.headBytes) >= firstSlice) pictures += 1;
      const isInformation =
        type === rules.information || (rules.codec === 'H265' && type === suffixInformation265);
      const isLate = pictures > 0 && !rules.isSlice(type);
      if (isSet && !isLate) own.push(unit);
      if (isSet && isLate && !(own.length > 0 ? own : sets).some((set) => set.equals(unit))) return null;
      isOdd ||= (isInformation && !isDamaged) || (isSet && isLate);
      if (!isInformation && !isLate) needed.push(startCode, unit);
    }
    if (own.length > 0) sets = own;
    return pictures > 1 ? null : { bytes: Buffer.concat(needed), isOdd };
  };
}

/** First bit of the place of a slice that begins a picture, in both codecs. */
const firstSlice = 0x80;

/** Zeros behind a unit belong to the start code of the next one. */
function trim(unit: Uint8Array): Buffer {
  let end = unit.length;
  while (unit[end - 1] === 0) end -= 1;
  return Buffer.from(unit.subarray(0, end));
}

function beginsWithKeySlice(bytes: Uint8Array, rules: UnitRules): boolean {
  for (const unit of listUnits([Buffer.alloc(pesHeaderBytes), bytes])) {
    const type = rules.readType(readByte(unit, 0));
    if (rules.isSlice(type)) return rules.isKeySlice(type);
  }
  return false;
}

/**
 * Yields chunks of whole packets whose continuity counters follow each other: chunks are cut from one or several
 * streams, and ffmpeg takes each gap for a loss. Losses in the streams are found before. A chunk whose counters do so
 * is the same array.
 */
export async function* renumberPackets(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const counters = new Map<number, number>();
  for await (const chunk of chunks) {
    let written = chunk;
    for (let offset = 0; offset + packetBytes <= chunk.length; offset += packetBytes) {
      if (!hasSyncByte(chunk, offset)) break;
      const field = readByte(chunk, offset + 3);
      const pid = readPid(chunk, offset);
      const before = counters.get(pid) ?? (field & 0x0f) - 1;
      const counter = (before + ((field & 0x10) === 0 ? 0 : 1)) & 0x0f;
      counters.set(pid, counter);
      if (counter === (field & 0x0f)) continue;
      if (written === chunk) written = new Uint8Array(chunk);
      written[offset + 3] = (field & 0xf0) | counter;
    }
    yield written;
  }
}
