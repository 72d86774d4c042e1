import { describedParameterSets, splitAggregate, type NalRules } from './nal-units.ts';
import { readRtp } from './rtp-packet.ts';
import type { VideoTrack } from './video-track.ts';

/** Whole access unit in Annex B format. A key frame has its parameter sets. */
export type AccessUnit = {
  bytes: Uint8Array;
  isKeyFrame: boolean;
  /** RTP timestamp of 32 bits, in units of the clock rate of the track. */
  timestamp: number;
  /** Arrival of its last packet, in milliseconds of the clock that was handed in. */
  arrivedMs: number;
};

/**
 * Assembles access units from RTP packets. Returns only those that a decoder can use: after a lost packet, nothing until
 * the next key frame. The unit before a packet is returned with it, because not every server marks the end.
 */
export type AccessUnitAssembler = {
  /** Reads an interleaved packet, including its four-byte header. Returns the access unit that it proves complete. */
  push(frame: Uint8Array, atMs: number): AccessUnit | null;
  /** Returns the access unit under way after the last packet of a connection, if the server marked its end. */
  end(): AccessUnit | null;
  /** Bytes of the access unit under way. */
  heldBytes(): number;
};

/** A key frame of a 4K camera has about 1 MB. */
const maxAccessUnitBytes = 4 * 1024 * 1024;
/** Bytes of all parameter sets that precede a key frame: those of a camera have 100. */
const maxParameterBytes = 4096;
const maxParameterSets = 8;
const initialBytes = 65_536;
const maxReusedBytes = 1024 * 1024;

const startCode = Uint8Array.of(0, 0, 0, 1);

/** Creates an assembler for one track. */
export function createAccessUnitAssembler(
  track: Pick<VideoTrack, 'payloadType' | 'parameters'>,
  rules: NalRules,
): AccessUnitAssembler {
  const reader = createPayloadReader(rules);
  let unit = reader.begin(null);
  let parameterSets = describedParameterSets(track.parameters, rules).reduce<Uint8Array[]>(
    (sets, set) => addParameterSet(sets, set, rules),
    [],
  );
  let nextSequence: number | null = null;
  let needsKeyFrame = true;

  return {
    heldBytes: () => reader.held().length,
    end: () => (unit.isMarked ? finish() : null),
    push(frame, atMs) {
      const packet = readRtp(frame);
      if (packet?.payloadType !== track.payloadType) return null;
      const isLost = nextSequence !== null && packet.sequence !== nextSequence;
      nextSequence = (packet.sequence + 1) & 0xffff;
      let complete: AccessUnit | null = null;
      if (packet.timestamp === unit.timestamp) unit.isDamaged ||= isLost;
      else {
        unit.isDamaged ||= isLost && !unit.isMarked;
        complete = finish();
        needsKeyFrame ||= isLost;
        unit = reader.begin(packet.timestamp);
      }
      unit.isMarked = packet.isMarked;
      unit.arrivedMs = atMs;
      reader.read(packet.payload);
      return complete;
    },
  };

  function finish(): AccessUnit | null {
    if (unit.timestamp === null || (!unit.isDamaged && !unit.hasSlice)) return rememberParameterSets();
    const isWhole = !unit.isDamaged && unit.beginsWhole && !unit.inFragment;
    rememberParameterSets();
    const { timestamp, isKeyFrame, arrivedMs } = unit;
    const missing = isKeyFrame && !isComplete(unit.parameterSets) ? parameterSets : [];
    needsKeyFrame = !isWhole || (isKeyFrame ? !isComplete(parameterSets) : needsKeyFrame);
    if (needsKeyFrame) return null;
    const bytes = joined([...missing.flatMap((set) => [startCode, set]), reader.held()]);
    return { bytes, isKeyFrame, timestamp, arrivedMs };
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

/** Reads the payloads of one access unit after another into its bytes in Annex B format. */
type PayloadReader = {
  /** Begins an access unit without bytes, whose state the reader keeps up to date. */
  begin(timestamp: number | null): UnitState;
  read(payload: Uint8Array): void;
  /** Bytes so far, valid until the next call. */
  held(): Uint8Array;
};

function createPayloadReader(rules: NalRules): PayloadReader {
  /** Copies into an own buffer: a packet is a part of a larger chunk, which would stay in memory as long. */
  let held = new Uint8Array(initialBytes);
  let heldBytes = 0;
  let unit = beginUnit(null);
  return {
    begin(timestamp) {
      heldBytes = 0;
      if (held.length > maxReusedBytes) held = new Uint8Array(initialBytes);
      return (unit = beginUnit(timestamp));
    },
    read: readPayload,
    held: () => held.subarray(0, heldBytes),
  };

  function readPayload(payload: Uint8Array): void {
    const type = rules.readType(payload[0] ?? 0);
    if (type === rules.fragment) return readFragment(payload);
    // A fragmented unit has no end: its last packet was lost.
    unit.isDamaged ||= unit.inFragment;
    const units = type === rules.aggregate ? splitAggregate(payload, rules.headBytes) : [payload];
    if (units === null || type > Math.max(rules.maxUnit, rules.aggregate)) return damage();
    for (const each of units) {
      if (each.length <= rules.headBytes || rules.readType(each[0] ?? 0) > rules.maxUnit) return damage();
      note(rules.readType(each[0] ?? 0), each[rules.headBytes] ?? 0, each);
      append(startCode);
      append(each);
    }
  }

  function readFragment(payload: Uint8Array): void {
    const flags = payload[rules.headBytes] ?? 0;
    const data = payload.subarray(rules.headBytes + 1);
    const begins = (flags & 0x80) !== 0;
    if (begins === unit.inFragment || data.length === 0) return damage();
    if (begins) {
      const head = rules.fragmentHead(payload);
      note(rules.readType(head[0] ?? 0), data[0] ?? 0, null);
      append(startCode);
      append(head);
    }
    append(data);
    unit.inFragment = (flags & 0x40) === 0;
  }

  /** The first bit of a slice header is 1 for the first slice of an access unit, in both codecs. */
  function note(type: number, firstByte: number, whole: Uint8Array | null): void {
    if (rules.isSlice(type)) {
      if (!unit.hasSlice) unit.beginsWhole = (firstByte & 0x80) !== 0;
      unit.hasSlice = true;
      unit.isKeyFrame ||= rules.isKeySlice(type);
    }
    if (rules.parameterSets.includes(type) && whole !== null)
      unit.parameterSets = addParameterSet(unit.parameterSets, whole, rules);
  }

  function append(bytes: Uint8Array): void {
    const needed = heldBytes + bytes.length;
    if (unit.isDamaged || needed > maxAccessUnitBytes) return damage();
    if (needed > held.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * held.length));
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

/** Copies parts into an array that is no part of the shared pool of small buffers, so that nothing else stays in memory with it. */
function joined(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
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
  isKeyFrame: boolean;
  hasSlice: boolean;
  /** False if the first slice is missing: the stream was joined midway. */
  beginsWhole: boolean;
  inFragment: boolean;
  parameterSets: Uint8Array[];
  arrivedMs: number;
};

function beginUnit(timestamp: number | null): UnitState {
  return {
    timestamp,
    isDamaged: false,
    isMarked: false,
    isKeyFrame: false,
    hasSlice: false,
    beginsWhole: false,
    inFragment: false,
    parameterSets: [],
    arrivedMs: 0,
  };
}
