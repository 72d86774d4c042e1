import { setImmediate } from 'node:timers/promises';
import { createPictureCheck, type PictureCheck } from '../h264/picture-check.ts';
import { hasPts } from './pes-packet.ts';
import {
  findPacket,
  hasSyncByte,
  isRandomAccess,
  packetBytes,
  packetPayload,
  readByte,
  readPid,
  startsPayloadUnit,
} from './packet.ts';
import { createTableReader, type VideoStream } from './psi.ts';
import { listUnits, readUnitBegin } from './unit-begin.ts';

/** Packets of a turn of the event loop: 1.5 MB. */
const stepPackets = 8_192;

type Place = 'next' | 'after loss' | 'repeated';
type Unit = { packets: number[]; places: Place[]; isKey: boolean; isDamaged: boolean };

/**
 * Creates a reader of successive bytes of MPEG-TS that leaves out what a decoder would make up: access units of which
 * the continuity counter (ISO/IEC 13818-1, 2.4.3.3) shows that packets are missing, or the picture itself, and those up
 * to the next one at which decoding can begin. A unit under way is kept for the next call. Without `isOpen`, the bytes
 * of a call are a segment, in which the last unit is whole if its last packet is not full.
 */
export function createWholeUnits({ isOpen = false } = {}) {
  const tables = createTableReader();
  const findPlace = createCounterCheck();
  /** Unit under way, and the bytes of a packet that is cut. */
  let held: { bytes: Uint8Array; places: Place[]; isDamaged: boolean } = beginHeld(new Uint8Array());
  /** True until an access unit at which decoding can begin, after a damaged one. */
  let awaitsKey = false;
  let isDamaged = false;
  /** True until the first packet: a stream may be joined within an access unit. */
  let isJoined = true;
  let check: { codec: string; pictures: PictureCheck } | null = null;
  return {
    /**
     * Returns the bytes without damage, in whole packets: the same array if they have none. Bytes of a packet that
     * is cut are kept for the next call.
     */
    read: (added: Uint8Array): Uint8Array => {
      const steps = readSteps(added);
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
      }
    },
    /** Reads many bytes like `read`, in turns of the event loop. The next call waits for this one. */
    readInTurns: async (added: Uint8Array): Promise<Uint8Array> => {
      const steps = readSteps(added);
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
        await setImmediate();
      }
    },
    /** Returns true if packets of video were missing. */
    isDamaged: () => isDamaged,
  };

  function* readSteps(added: Uint8Array): Generator<undefined, Uint8Array> {
    const { places: placesBefore, ...before } = held;
    const bytes = before.bytes.length > 0 ? Buffer.concat([before.bytes, added]) : added;
    const left = new Set<number>();
    let unit: Unit | undefined;
    let [end, packets, checked] = [0, 0, 0];
    for (
      let offset = nextPacket(bytes, 0);
      offset + packetBytes <= bytes.length;
      offset = nextPacket(bytes, end)
    ) {
      end = offset + packetBytes;
      packets += 1;
      if (packets % stepPackets === 0) yield;
      const video = readTables(bytes, offset);
      if (video === null || readPid(bytes, offset) !== video.pid) continue;
      const begins = startsUnit(bytes, offset);
      const isFirst = !isOpen && checked === placesBefore.length;
      const place = placesBefore[checked] ?? findPlace(bytes, offset, { begins, isFirst });
      checked += 1;
      if (place === 'repeated') {
        unit?.places.push(place);
        left.add(offset);
        continue;
      }
      const isLost = place === 'after loss';
      isDamaged ||= isLost;
      if (unit && isLost) unit.isDamaged = true;
      if (begins) endUnit(unit, bytes, left);
      if (begins || !unit) {
        const isKey = begins && awaitsKey && beginsDecoding(bytes, offset, video);
        const isCut =
          unit === undefined && checked <= placesBefore.length ? before.isDamaged : isLost || isJoined;
        unit = { packets: [], places: [], isKey, isDamaged: !begins && isCut };
      }
      isJoined = false;
      unit.packets.push(offset);
      unit.places.push(place);
    }
    const isUnderWay = unit && (isOpen || isFull(bytes, unit.packets.at(-1) ?? 0));
    const keptFrom = isUnderWay ? (unit?.packets[0] ?? end) : end;
    held = { ...beginHeld(bytes.subarray(keptFrom)), ...(isUnderWay && unit) };
    if (!isUnderWay) endUnit(unit, bytes, left);
    yield;
    const isSame = left.size === 0 && !isUnderWay && packets * packetBytes === bytes.length;
    return isSame ? bytes : copyPackets(bytes.subarray(0, keptFrom), left);
  }

  function readTables(bytes: Uint8Array, offset: number): VideoStream | null {
    if (startsPayloadUnit(bytes, offset) || tables.isWithin()) tables.read(takePacket(bytes, offset));
    return tables.video();
  }

  function endUnit(unit: Unit | undefined, bytes: Uint8Array, left: Set<number>): void {
    if (unit && hasHole(unit, bytes)) unit.isDamaged = isDamaged = true;
    if (unit?.isKey) awaitsKey = false;
    if (unit?.isDamaged) awaitsKey = true;
    if (awaitsKey) for (const offset of unit?.packets ?? []) left.add(offset);
  }

  /** Returns true if a server in between has lost a part of the picture, or one to which it refers. */
  function hasHole({ packets }: Unit, bytes: Uint8Array): boolean {
    const video = tables.video();
    if (!video?.rules) return false;
    const { codec } = video.rules;
    if (check?.codec !== codec) check = { codec, pictures: createPictureCheck(video.rules) };
    const payloads = packets.map((offset) => packetPayload(bytes, offset));
    for (const each of listUnits(payloads)) check.pictures.note(each);
    const { lacksSlices, lacksReference } = check.pictures.end();
    return lacksSlices || (lacksReference && !beginsDecoding(bytes, packets[0] ?? 0, video));
  }
}

function beginHeld(bytes: Uint8Array) {
  return { bytes: new Uint8Array(bytes), places: [], isDamaged: false };
}

/** Returns true if a packet has no adaptation field: the last one of a unit is filled up with it. */
function isFull(bytes: Uint8Array, offset: number): boolean {
  return (readByte(bytes, offset + 3) & 0x20) === 0;
}

/**
 * Returns a function that compares the counter of a video packet with the one before. Where a unit begins, the first
 * packet of a segment may have any behind a whole unit, and so may one with the indicator of a discontinuity: within an
 * access unit, receivers mark with it what they have lost.
 */
function createCounterCheck() {
  let before: Uint8Array | null = null;
  let beforeAt = 0;
  return (
    bytes: Uint8Array,
    offset: number,
    { begins, isFirst }: { begins: boolean; isFirst: boolean },
  ): Place => {
    const field = readByte(bytes, offset + 3);
    const hasError = (readByte(bytes, offset + 1) & 0x80) !== 0;
    if (hasError) return 'after loss';
    if ((field & 0x10) === 0) return 'next';
    const isNew = (readFlags(bytes, offset) & 0x80) !== 0;
    const [last, lastAt] = [before, beforeAt];
    [before, beforeAt] = [bytes, offset];
    if (last === null) return 'next';
    const step = (field - readByte(last, lastAt + 3)) & 0x0f;
    const mayJump = begins && (isNew || (isFirst && !isFull(last, lastAt)));
    if (mayJump || step === 1) return 'next';
    const isSame = step === 0 && isRepeated(takePacket(bytes, offset), takePacket(last, lastAt));
    return isSame ? 'repeated' : 'after loss';
  };
}

function takePacket(bytes: Uint8Array, offset: number): Uint8Array {
  return bytes.subarray(offset, offset + packetBytes);
}

/** Flags of the adaptation field; 0 without them. */
function readFlags(bytes: Uint8Array, offset = 0): number {
  return (readByte(bytes, offset + 3) & 0x20) !== 0 && readByte(bytes, offset + 4) > 0
    ? readByte(bytes, offset + 5)
    : 0;
}

/** A repeated packet may have a clock reference (PCR) of its own. */
function isRepeated(packet: Uint8Array, before: Uint8Array): boolean {
  const clockEnd = (readFlags(packet) & 0x10) !== 0 ? 12 : 6;
  // Each view would cost more than its bytes.
  for (let index = 0; index < packetBytes; index = index === 5 ? clockEnd : index + 1)
    if (packet[index] !== before[index]) return false;
  return true;
}

/** Returns the offset of the next packet. Skips other bytes. */
function nextPacket(bytes: Uint8Array, from: number): number {
  return hasSyncByte(bytes, from) ? from : findPacket(bytes, from);
}

function copyPackets(bytes: Uint8Array, left: ReadonlySet<number>): Uint8Array {
  const packets: Uint8Array[] = [];
  for (
    let offset = nextPacket(bytes, 0);
    offset + packetBytes <= bytes.length;
    offset = nextPacket(bytes, offset + packetBytes)
  )
    if (!left.has(offset)) packets.push(takePacket(bytes, offset));
  return Buffer.concat(packets);
}

/** Some encoders split an access unit into several PES packets: only the first one has a PTS. */
function startsUnit(bytes: Uint8Array, offset: number): boolean {
  if (!startsPayloadUnit(bytes, offset)) return false;
  return isRandomAccess(bytes, offset) || hasPts(packetPayload(bytes, offset));
}

/** Sequence header of MPEG-2, and picture of MPEG-4, whose next two bits are 0 for one without references. */
const [sequenceHeader, pictureHeader] = [Buffer.from([0, 0, 1, 0xb3]), Buffer.from([0, 0, 1, 0xb6])];

function beginsDecoding(bytes: Uint8Array, offset: number, { pid, rules }: VideoStream): boolean {
  if (isRandomAccess(bytes, offset)) return true;
  if (rules !== null) return readUnitBegin(bytes, offset, pid, rules).entryPoint() !== null;
  const payload = Buffer.from(packetPayload(bytes, offset));
  const picture = payload.indexOf(pictureHeader);
  return payload.includes(sequenceHeader) || (picture >= 0 && (payload[picture + 4] ?? 0xff) < 0x40);
}
