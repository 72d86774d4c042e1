import { codedSize } from '../../h264/coded-size.ts';
import { createEntryPointReader, type EntryPointReader } from '../../h264/entry-point.ts';
import { createPictureCheck, type PictureCheck } from '../../h264/picture-check.ts';
import {
  describedParameterSets,
  hasUndefinedType,
  readPayloadBegin,
  splitAggregate,
  splitJoined,
  type NalRules,
} from './nal-units.ts';
import { createPacketOrder, readRtp, type RtpPacket } from './rtp-packet.ts';
import type { VideoTrack } from '../protocol/sdp.ts';

/** Whole access unit in Annex B format. One at which decoding can begin has its parameter sets. */
export type AccessUnit = {
  bytes: Uint8Array;
  isKeyFrame: boolean;
  /** Reference frames after the begin of an intra refresh until a picture is whole. Absent for all other units. */
  recoveryFrames?: number;
  /** Size of the pictures from a unit on at which decoding can begin. */
  codedSize?: string;
  /** False if no other frame refers to it. */
  isReference?: boolean;
  /** RTP timestamp of 32 bits, in units of the clock rate of the track. */
  timestamp: number;
  /** Arrival of its last packet, in milliseconds of the clock that was handed in. */
  arrivedMs: number;
};

/** A key frame of a 4K camera has about 1 MB. */
const maxAccessUnitBytes = 4 * 1024 * 1024;
/** Bytes of all parameter sets that precede a key frame: those of a camera have 100. */
const maxParameterBytes = 4096;
const maxParameterSets = 8;
const initialBytes = 65_536;
const maxReusedBytes = 1024 * 1024;
/** Memory that units share, in bytes, and the largest of them: it stays as long as one of them does. */
const sharedBytes = 65_536;
const maxSharedUnitBytes = sharedBytes / 4;

const startCode = Uint8Array.of(0, 0, 0, 1);

/**
 * Creates an assembler of access units from RTP packets. It returns only those that a decoder can use: after a lost
 * packet, nothing until decoding can begin again. The unit before a packet is returned with it, because not every
 * server marks the end.
 */
export function createAccessUnitAssembler(
  track: Pick<VideoTrack, 'payloadType' | 'parameters'>,
  rules: NalRules,
) {
  const check = createPictureCheck(rules);
  const reader = createPayloadReader(rules, check);
  const memory = createUnitMemory();
  let unit = reader.begin(null);
  const described = describedParameterSets(track.parameters, rules);
  described.forEach(check.note);
  let parameterSets = described.reduce<Uint8Array[]>((sets, set) => addParameterSet(sets, set, rules), []);
  /** True for a camera that marks packets within units. */
  let marksAll = false;
  /** True from a lost packet to the next one of a unit that the codec defines. */
  let isLost = false;
  const findPlace = createPacketOrder();
  const divide = createUnitDivider(rules);
  let needsKeyFrame = true;
  let isDamaged = false;
  /** Units in a row that began whole. */
  let wholeBegins = 0;
  /** Key frame whose second field has not arrived. */
  let halfFrame: AccessUnit | null = null;

  return {
    /** Bytes of the access unit under way. */
    heldBytes: () => reader.heldBytes() + (halfFrame?.bytes.length ?? 0),
    /** Returns true if pictures since the newest key frame had holes. */
    isDamaged: () => isDamaged,
    /** Returns the access unit under way after the last packet of a connection, if the server marked its end. */
    end: (): AccessUnit | null => (unit.isMarked ? finishFrame() : null),
    /** Reads an interleaved packet, including its four-byte header. Returns the access unit that it proves complete. */
    push(frame: Uint8Array, atMs: number): AccessUnit | null {
      const packet = readRtp(frame);
      if (packet?.payloadType !== track.payloadType) return null;
      const place = findPlace(packet);
      if (place === 'none') return null;
      isLost ||= place === 'after loss';
      if (hasUndefinedType(packet.payload, rules)) {
        // It is no part of a picture, but may have the mark of the one that it ends.
        unit.isMarked ||= packet.isMarked && packet.timestamp === unit.timestamp && !marksAll;
        return null;
      }
      const timestamp = divide(packet, unit, isLost, atMs);
      let complete: AccessUnit | null = null;
      if (timestamp === null) {
        unit.isDamaged ||= isLost;
        marksAll ||= unit.isMarked;
      } else {
        unit.isDamaged ||= isLost && !unit.isMarked;
        complete = finishFrame();
        needsKeyFrame ||= isLost;
        unit = reader.begin(timestamp);
        unit.isAfterLoss = isLost;
      }
      isLost = false;
      unit.isMarked = packet.isMarked && !marksAll;
      unit.arrivedMs = atMs;
      reader.read(packet.payload);
      return complete;
    },
  };

  /** A key frame may be two units, of a field each: a decoder shows none alone. */
  function finishFrame(): AccessUnit | null {
    const checked = check.end();
    const [first, ended, isSecond] = [halfFrame, finish(checked), checked.field === 'second'];
    halfFrame = ended?.isKeyFrame && checked.field === 'first' ? ended : null;
    if (halfFrame) return null;
    if (first === null || ended === null || ended.isKeyFrame) return ended;
    if (isSecond) return { ...first, bytes: joined([first.bytes, ended.bytes]), arrivedMs: ended.arrivedMs };
    needsKeyFrame = isDamaged = true;
    return null;
  }

  function finish({ lacksSlices, lacksReference }: ReturnType<PictureCheck['end']>): AccessUnit | null {
    unit.isDamaged ||= lacksSlices;
    if (unit.timestamp === null || (!unit.isDamaged && !unit.begin.hasSlice()))
      return rememberParameterSets();
    const isOne = unit.beginsWhole && unit.pictures <= maxPicturesOfUnit;
    const isWhole = !unit.isDamaged && isOne && (!unit.inFragment || unit.isMarked);
    rememberParameterSets();
    const { timestamp, arrivedMs } = unit;
    const entry = unit.begin.entryPoint();
    const missing = entry && !isComplete(unit.parameterSets) ? parameterSets : [];
    // A relay may hide a loss. Where the stream was joined, or the camera splits its pictures, a begin is not lost.
    const isCut = !unit.beginsWhole && (unit.isAfterLoss || wholeBegins > 1);
    isDamaged ||= unit.isDamaged || lacksReference || isCut;
    wholeBegins = unit.beginsWhole ? wholeBegins + 1 : 0;
    needsKeyFrame = !isWhole || (entry ? !isComplete(parameterSets) : needsKeyFrame || lacksReference);
    if (needsKeyFrame) return null;
    const isKeyFrame = entry?.recoveryFrames === 0;
    if (entry) isDamaged = false;
    const parts = [...missing.flatMap((set) => [startCode, set]), reader.held()];
    // Scans keep key frames longer than the frames beside them.
    const bytes = isKeyFrame ? joined(parts) : memory.join(parts);
    const sequenceSet = entry && findSequenceSet();
    return {
      bytes,
      isKeyFrame,
      ...(entry && !isKeyFrame && { recoveryFrames: entry.recoveryFrames }),
      ...(sequenceSet && { codedSize: codedSize(sequenceSet, rules) }),
      isReference: unit.begin.isReference(),
      timestamp,
      arrivedMs,
    };
  }

  function findSequenceSet(): Uint8Array | undefined {
    return parameterSets.find((set) => rules.readType(set[0] ?? 0) === rules.sequenceSet);
  }

  /** Cameras send parameter sets with each key frame, once at the start, or in the session description only. */
  function rememberParameterSets(): null {
    if (!unit.isDamaged && isComplete(unit.parameterSets)) parameterSets = unit.parameterSets;
    return null;
  }

  function isComplete(sets: Uint8Array[]): boolean {
    return rules.parameterSets.every((type) => sets.some((set) => rules.readType(set[0] ?? 0) === type));
  }
}

/** Pictures of one unit above which the server writes the same timestamp for all: a frame has two fields at most. */
const maxPicturesOfUnit = 2;
const ticksPerMs = 90;

/**
 * Returns a function from a packet to the timestamp of the access unit that begins with it; null if it belongs to the
 * unit under way. Timestamps separate units, unless a packet continues a picture, or all of them are equal: then each
 * picture is a unit, of the time of its arrival. A slice behind a mark continues none if the camera marks last slices
 * only: the first slice of its picture was lost.
 */
function createUnitDivider(rules: NalRules) {
  let newest: number | null = null;
  let isStuck = false;
  /** True once a slice without a mark was followed by another one of its picture. */
  let marksLastSlices = false;
  return (
    { payload, timestamp }: RtpPacket,
    unit: UnitState,
    isLost: boolean,
    atMs: number,
  ): number | null => {
    const isSame = timestamp === newest;
    newest = timestamp;
    isStuck = isSame && (isStuck || unit.pictures > maxPicturesOfUnit);
    const begin = readPayloadBegin(payload, rules);
    const followsSlice = begin === 'slice' && unit.begin.hasSlice();
    const continues = begin === 'fragment' ? unit.inFragment : followsSlice;
    marksLastSlices ||= followsSlice && !unit.isMarked && !unit.inFragment && !isLost;
    const isEnded = isLost || (marksLastSlices && unit.isMarked && followsSlice);
    if (isSame ? !isStuck || continues || !unit.begin.hasSlice() : continues && !isEnded) return null;
    return isStuck ? Math.round(atMs * ticksPerMs) >>> 0 : timestamp;
  };
}

/** Creates a reader of the payloads of one access unit after another into its bytes in Annex B format. */
function createPayloadReader(rules: NalRules, check: PictureCheck) {
  /** Copies into an own buffer: a packet is a part of a larger chunk, which would stay in memory as long. */
  let held = Buffer.allocUnsafeSlow(initialBytes);
  let heldBytes = 0;
  let unit = beginUnit(null, rules);
  return {
    /** Begins an access unit without bytes, whose state the reader keeps up to date. */
    begin(timestamp: number | null): UnitState {
      heldBytes = 0;
      if (held.length > maxReusedBytes) held = Buffer.allocUnsafeSlow(initialBytes);
      return (unit = beginUnit(timestamp, rules));
    },
    read: readPayload,
    /** Bytes so far, valid until the next call. */
    held: () => held.subarray(0, heldBytes),
    heldBytes: () => heldBytes,
  };

  function readPayload(payload: Uint8Array): void {
    const type = rules.readType(payload[0] ?? 0);
    if (type === rules.fragment) return readFragment(payload);
    // A fragmented unit has no end: its last packet was lost.
    unit.isDamaged ||= unit.inFragment;
    const units = type === rules.aggregate ? splitAggregate(payload, rules.headBytes) : [payload];
    if (units === null || type > Math.max(rules.maxUnit, rules.aggregate)) return damage();
    for (const each of units.flatMap((joined) => splitJoined(joined, rules))) {
      const unitType = rules.readType(each[0] ?? 0);
      if (unitType >= rules.undefinedFrom) continue;
      const isCut = each.length <= rules.headBytes && !rules.ends.includes(unitType);
      if (isCut || unitType > rules.maxUnit) return damage();
      if (unit.begin.hasSlice() && isRepeated(each)) continue;
      note(each);
      append(startCode);
      append(each);
    }
  }

  function readFragment(payload: Uint8Array): void {
    const flags = payload[rules.headBytes] ?? 0;
    const data = payload.subarray(rules.headBytes + 1);
    const [begins, ends] = [(flags & 0x80) !== 0, (flags & 0x40) !== 0];
    // Some cameras send empty ones.
    if (data.length === 0 && !begins && !ends) return;
    if (begins === unit.inFragment) return damage();
    if (begins) {
      append(startCode);
      unit.unreadAt = heldBytes;
      append(rules.fragmentHead(payload));
    }
    append(data);
    unit.inFragment = !ends;
    if (unit.unreadAt === null || unit.isDamaged) return;
    const begun = held.subarray(unit.unreadAt, heldBytes);
    if (!ends && !rules.isSlice(rules.readType(begun[0] ?? 0))) return;
    for (const each of splitJoined(begun, rules)) note(each);
    unit.unreadAt = null;
  }

  /**
   * Some servers send the parameter sets before each slice: decoders take the second ones for the begin of a picture.
   */
  function isRepeated(set: Uint8Array): boolean {
    return unit.parameterSets.some((before) => Buffer.compare(before, set) === 0);
  }

  /** The first bit of a slice header is 1 for the first slice of an access unit, in both codecs. */
  function note(begun: Uint8Array): void {
    const type = rules.readType(begun[0] ?? 0);
    const isFirst = rules.isSlice(type) && ((begun[rules.headBytes] ?? 0) & 0x80) !== 0;
    if (rules.isSlice(type) && !unit.begin.hasSlice()) unit.beginsWhole = isFirst;
    if (isFirst) unit.pictures += 1;
    unit.begin.note(begun);
    check.note(begun);
    if (rules.parameterSets.includes(type))
      unit.parameterSets = addParameterSet(unit.parameterSets, begun, rules);
  }

  function append(bytes: Uint8Array): void {
    const needed = heldBytes + bytes.length;
    if (unit.isDamaged || needed > maxAccessUnitBytes) return damage();
    if (needed > held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * held.length));
      larger.set(held.subarray(0, heldBytes));
      held = larger;
    }
    held.set(bytes, heldBytes);
    heldBytes = needed;
  }

  function damage(): void {
    unit.isDamaged = true;
    heldBytes = 0;
  }
}

/** Memory of the units of one track, most of which leave it together. */
function createUnitMemory() {
  let shared = Buffer.alloc(0);
  return {
    join(parts: readonly Uint8Array[]): Uint8Array {
      const bytes = countBytes(parts);
      if (bytes > maxSharedUnitBytes) return joined(parts);
      if (bytes > shared.length) shared = Buffer.allocUnsafeSlow(sharedBytes);
      const unit = shared.subarray(0, bytes);
      shared = shared.subarray(bytes);
      return copyInto(unit, parts);
    },
  };
}

/**
 * Copies parts into an array that is no part of the shared pool of small buffers, so that nothing else stays in memory
 * with it.
 */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  return copyInto(Buffer.allocUnsafeSlow(countBytes(parts)), parts);
}

function countBytes(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

/** Fills memory with parts of its size. */
function copyInto(bytes: Buffer, parts: readonly Uint8Array[]): Buffer {
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Adds a set in the place of one with the same type and id. A set that is too large is left out. */
function addParameterSet(sets: Uint8Array[], added: Uint8Array, rules: NalRules): Uint8Array[] {
  const name = rules.parameterSetName(added);
  const others = sets.filter((set) => rules.parameterSetName(set) !== name);
  const bytes = others.reduce((sum, set) => sum + set.length, added.length);
  return bytes <= maxParameterBytes && others.length < maxParameterSets
    ? [...others, new Uint8Array(added)]
    : sets;
}

/** State of the access unit under way. */
type UnitState = {
  timestamp: number | null;
  isDamaged: boolean;
  isMarked: boolean;
  isAfterLoss: boolean;
  begin: EntryPointReader;
  /** False if the first slice is missing: the stream was joined midway. */
  beginsWhole: boolean;
  inFragment: boolean;
  /** Place of a fragmented unit in the bytes whose begin is not read: parameter sets. */
  unreadAt: number | null;
  /** First slices so far. */
  pictures: number;
  parameterSets: Uint8Array[];
  arrivedMs: number;
};

function beginUnit(timestamp: number | null, rules: NalRules): UnitState {
  return {
    timestamp,
    isDamaged: false,
    isMarked: false,
    isAfterLoss: false,
    begin: createEntryPointReader(rules),
    beginsWhole: false,
    inFragment: false,
    unreadAt: null,
    pictures: 0,
    parameterSets: [],
    arrivedMs: 0,
  };
}
