import { createBitReader, MalformedUnitError, type BitReader } from './bits.ts';

/** NAL units of a codec, as far as the place where decoding can begin needs them. */
export type UnitRules = {
  codec: 'H264' | 'H265';
  headBytes: number;
  /** Unit type, from the first byte of a unit. */
  readType(first: number): number;
  isSlice(type: number): boolean;
  isKeySlice(type: number): boolean;
  /** Type of supplemental information that precedes the slices (SEI). */
  information: number;
  /** Type of the parameter set that has the resolution (SPS). */
  sequenceSet: number;
};

export const h264Units: UnitRules = {
  codec: 'H264',
  headBytes: 1,
  readType: (first) => first & 0x1f,
  isSlice: (type) => type >= 1 && type <= 5,
  isKeySlice: (type) => type === 5,
  information: 6,
  sequenceSet: 7,
};

export const h265Units: UnitRules = {
  codec: 'H265',
  headBytes: 2,
  readType: (first) => (first >> 1) & 0x3f,
  isSlice: (type) => type < 32,
  // IDR, BLA and CRA pictures. A decoder that begins with a CRA picture drops the leading pictures that it cannot
  // decode.
  isKeySlice: (type) => type >= 16 && type <= 21,
  information: 39,
  sequenceSet: 33,
};

/**
 * Picture at which decoding can begin. `recoveryFrames` is the number of reference frames after it until a picture is
 * whole: 0 for a key frame and the I picture of an open group, more with intra refresh, which has no key frames.
 */
export type EntryPoint = { recoveryFrames: number };

/** Reader of one access unit. */
export type EntryPointReader = ReturnType<typeof createEntryPointReader>;

/** More frames take longer to decode than the wait for the next key frame. */
export const maxRecoveryFrames = 600;

/** Creates a reader for an access unit of a codec (ITU-T H.264 and H.265, D.2: recovery point). */
export function createEntryPointReader(rules: UnitRules) {
  let isKeyFrame = false;
  let isIntra = true;
  let hasSlice = false;
  let isReference = rules.codec === 'H265';
  let recoveryFrames: number | null = null;
  let sequenceSet: Uint8Array | undefined;
  return {
    note,
    entryPoint,
    hasSlice: () => hasSlice,
    /** Returns true if other frames refer to it. */
    isReference: () => isReference,
    /** Returns the SPS, without a copy. */
    sequenceSet: () => sequenceSet,
  };

  /** Notes the beginning of a unit, with its header. */
  function note(unit: Uint8Array): void {
    const first = unit[0] ?? 0;
    const type = rules.readType(first);
    if (type === rules.information) recoveryFrames ??= readRecoveryFrames(unit, rules);
    if (type === rules.sequenceSet) sequenceSet = unit;
    if (!rules.isSlice(type)) return;
    hasSlice = true;
    isKeyFrame ||= rules.isKeySlice(type);
    isReference ||= (first & 0x60) !== 0;
    if (recoveryFrames === 0) isIntra &&= rules.codec === 'H264' && isIntraSlice(unit);
  }

  /** Returns null if decoding cannot begin with this access unit. */
  function entryPoint(): EntryPoint | null {
    if (isKeyFrame) return { recoveryFrames: 0 };
    if (!hasSlice || recoveryFrames === null || recoveryFrames > maxRecoveryFrames) return null;
    // Some encoders write a recovery point at pictures that refer to others.
    return recoveryFrames > 0 || isIntra ? { recoveryFrames } : null;
  }
}

const intraSlice = 2;
const slicesOfOneType = 5;

function isIntraSlice(unit: Uint8Array): boolean {
  return (
    readBits(unit.subarray(1, 16), (reader) => {
      reader.unsigned();
      return reader.unsigned() % slicesOfOneType === intraSlice;
    }) ?? false
  );
}

const recoveryPoint = 6;
/** Longer information is text of the encoder. */
const maxInformationBytes = 4096;

/** Returns null without a recovery point. */
function readRecoveryFrames(unit: Uint8Array, { codec, headBytes }: UnitRules): number | null {
  const content = withoutPrevention(unit.subarray(headBytes, maxInformationBytes));
  for (let index = 0; index + 2 < content.length;) {
    const [type, size] = [readLong(content, index), readLong(content, index + lengthOfLong(content, index))];
    index += lengthOfLong(content, index);
    index += lengthOfLong(content, index);
    if (type === recoveryPoint)
      return readBits(content.subarray(index, index + size), (reader) =>
        codec === 'H264' ? reader.unsigned() : Math.max(0, reader.signed()),
      );
    index += size;
  }
  return null;
}

/** Reads a number that continues after each byte of 255 (7.3.2.3.1). */
function readLong(bytes: Uint8Array, offset: number): number {
  const length = lengthOfLong(bytes, offset);
  return 255 * (length - 1) + (bytes[offset + length - 1] ?? 0);
}

/** Numbers above it are longer than the information that is read. */
const maxLengthOfLong = 1 + Math.ceil(maxInformationBytes / 255);

function lengthOfLong(bytes: Uint8Array, offset: number): number {
  let length = 1;
  while (bytes[offset + length - 1] === 255 && length < maxLengthOfLong) length += 1;
  return length;
}

/** Removes the bytes that prevent start codes within a unit. */
export function withoutPrevention(unit: Uint8Array): Uint8Array {
  const kept = new Uint8Array(unit.length);
  let length = 0;
  for (let index = 0; index < unit.length; index += 1) {
    const byte = unit[index] ?? 0;
    if (byte === 3 && index >= 2 && unit[index - 1] === 0 && unit[index - 2] === 0) continue;
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}

/** Returns null if the bytes end early, or are damaged. */
export function readBits<Value>(bytes: Uint8Array, read: (reader: BitReader) => Value): Value | null {
  try {
    return read(createBitReader(bytes));
  } catch (error) {
    if (error instanceof MalformedUnitError) return null;
    throw error;
  }
}
