import { readByte } from '../mpeg-ts/packet.ts';
import { createBitReader, MalformedUnitError, type BitReader } from './bits.ts';

/** Key frame of H.264 that is exactly one coded picture with its own parameter sets. */
export type CodedPicture = {
  /** Annex B format: SPS, PPS and the slices of one IDR picture, nothing else. */
  bytes: Buffer;
  /** Size of the decoded picture in pixels, from its SPS. */
  size: { width: number; height: number };
  /** Width of a pixel, divided by its height. */
  pixelRatio: number;
  /** SPS as text: equal for streams of one kind. */
  parameters: string;
};

const types = { keySlice: 5, info: 6, sps: 7, pps: 8, delimiter: 9, end: 10, endOfStream: 11, filler: 12 };
/** Units that a decoder of a single picture does not need. */
const omitted = new Set([types.info, types.delimiter, types.end, types.endOfStream, types.filler]);
const maxParameterBytes = 512;

/**
 * Returns the only coded picture of an access unit in Annex B format. Returns null in any doubt: for a second picture,
 * parameter set or field, for slices that are not of one IDR picture with these parameter sets, and for what cameras
 * rarely send (interlaced, 4:2:2, 10 bits, slice groups). A decoder that was used before then has nothing to add to the
 * picture, and returns one picture for it.
 */
export function readCodedPicture(bytes: Buffer): CodedPicture | null {
  try {
    const units = splitUnits(bytes).filter((unit) => !omitted.has(readType(unit)));
    const [sps, pps, ...slices] = units;
    if (sps === undefined || pps === undefined || slices.length === 0) return null;
    const picture = readSps(sps);
    checkSlices(slices, picture, readPps(pps, picture.id));
    const { size, pixelRatio } = picture;
    return {
      bytes: joinUnits(bytes, units),
      size,
      pixelRatio,
      parameters: sps.toString('base64'),
    };
  } catch (error) {
    if (error instanceof MalformedUnitError) return null;
    throw error;
  }
}

const startCode = Buffer.from([0, 0, 1]);

/** Returns units of a byte stream with start codes: its part with these units, if that has nothing else, or a copy. */
function joinUnits(bytes: Buffer, units: readonly Buffer[]): Buffer {
  const places = units.map(({ byteOffset, length }) => {
    const start = byteOffset - bytes.byteOffset;
    return { from: start - startCode.length, end: start + length };
  });
  const isWhole = places.every(({ from }, index) => index === 0 || from - (places[index - 1]?.end ?? 0) <= 1);
  return isWhole
    ? bytes.subarray(places[0]?.from, places.at(-1)?.end)
    : Buffer.concat(places.map(({ from, end }) => bytes.subarray(from, end)));
}

/**
 * Splits a byte stream (ITU-T H.264, annex B). Decoders differ on bytes before the first unit and on zeros within one.
 */
function splitUnits(bytes: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let offset = bytes.indexOf(twoZeros); offset >= 0;) {
    let end = offset + 2;
    while (bytes[end] === 0) end += 1;
    if (bytes[end] === 1) starts.push(end + 1);
    // No unit may contain three zeros, or two and a 2 (7.4.1).
    else check(end === bytes.length || (end === offset + 2 && bytes[end] !== 2));
    offset = bytes.indexOf(twoZeros, end);
  }
  if (bytes.subarray(0, (starts[0] ?? 0) - 3).some((byte) => byte !== 0))
    throw new MalformedUnitError('Bytes before the first unit');
  return starts.map((start, index) => {
    let end = (starts[index + 1] ?? bytes.length + 3) - 3;
    while (end > start && bytes[end - 1] === 0) end -= 1;
    const unit = bytes.subarray(start, end);
    check(unit.length >= 1);
    return unit;
  });
}

const twoZeros = Buffer.from([0, 0]);

function readType(unit: Uint8Array): number {
  return readByte(unit, 0) & 0x1f;
}

function openUnit(unit: Buffer, type: number): BitReader {
  check(readType(unit) === type && (readByte(unit, 0) & 0xe0) !== 0 && readByte(unit, 0) < 0x80);
  const content: number[] = [];
  // The head of a slice is shorter.
  for (let index = 1; index < Math.min(unit.length, maxParameterBytes); index += 1) {
    const isPrevention = unit[index] === 3 && unit[index - 1] === 0 && unit[index - 2] === 0 && index > 2;
    if (!isPrevention) content.push(readByte(unit, index));
  }
  return createBitReader(Uint8Array.from(content));
}

function check(holds: boolean): void {
  if (!holds) throw new MalformedUnitError('The unit is not supported');
}

type Sps = {
  id: number;
  size: { width: number; height: number };
  pixelRatio: number;
  frameNumberBits: number;
  /** Bits of the picture order count in a slice; 0 if slices have none. */
  orderBits: number;
};

const profilesWithChroma = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** Reads a sequence parameter set up to the aspect ratio of its pixels (7.3.2.1.1, E.1.1). */
function readSps(unit: Buffer): Sps {
  check(unit.length <= maxParameterBytes);
  const reader = openUnit(unit, types.sps);
  const profile = reader.bits(8);
  reader.bits(16);
  const id = reader.unsigned();
  if (profilesWithChroma.has(profile)) {
    const [chroma, lumaDepth, chromaDepth] = [reader.unsigned(), reader.unsigned(), reader.unsigned()];
    check(chroma === 1 && lumaDepth === 0 && chromaDepth === 0 && !reader.flag());
    if (reader.flag()) skipScalingLists(reader);
  }
  const frameNumberBits = reader.unsigned() + 4;
  const orderBits = readOrder(reader);
  reader.unsigned();
  reader.flag();
  const [columns, rows] = [reader.unsigned() + 1, reader.unsigned() + 1];
  const hasFramesOnly = reader.flag();
  reader.flag();
  check(id <= 31 && frameNumberBits <= 16 && columns <= 1024 && rows <= 1024 && hasFramesOnly);
  const isCropped = reader.flag();
  const [left = 0, right = 0, top = 0, bottom = 0] = isCropped
    ? Array.from({ length: 4 }, () => reader.unsigned())
    : [];
  const size = { width: 16 * columns - 2 * (left + right), height: 16 * rows - 2 * (top + bottom) };
  check(size.width > 0 && size.height > 0);
  return { id, size, pixelRatio: readPixelRatio(reader), frameNumberBits, orderBits };
}

/** Ratios by their index (table E-1). */
const pixelRatios = [
  [1, 1],
  [12, 11],
  [10, 11],
  [16, 11],
  [40, 33],
  [24, 11],
  [20, 11],
  [32, 11],
  [80, 33],
  [18, 11],
  [15, 11],
  [64, 33],
  [160, 99],
  [4, 3],
  [3, 2],
  [2, 1],
] as const;
const ownRatio = 255;

/** Returns 1 if the ratio is not specified. */
function readPixelRatio(reader: BitReader): number {
  const isSpecified = reader.flag() && reader.flag();
  if (!isSpecified) return 1;
  const index = reader.bits(8);
  const [width, height] =
    index === ownRatio ? [reader.bits(16), reader.bits(16)] : (pixelRatios[index - 1] ?? [1, 1]);
  return width > 0 && height > 0 ? width / height : 1;
}

function skipScalingLists(reader: BitReader): void {
  for (let list = 0; list < 8; list += 1) {
    if (!reader.flag()) continue;
    let [last, next] = [8, 8];
    for (let index = 0; index < (list < 6 ? 16 : 64); index += 1) {
      if (next !== 0) next = (last + reader.signed() + 256) % 256;
      if (next !== 0) last = next;
    }
  }
}

function readOrder(reader: BitReader): number {
  const type = reader.unsigned();
  if (type === 0) {
    const bits = reader.unsigned() + 4;
    check(bits <= 16);
    return bits;
  }
  // Type 1 adds fields to slices, and no common encoder has it.
  check(type === 2);
  return 0;
}

type Pps = { id: number; hasOrderOfBottom: boolean };

/** Reads a picture parameter set up to the flag of redundant pictures (7.3.2.2). */
function readPps(unit: Buffer, spsId: number): Pps {
  check(unit.length <= maxParameterBytes);
  const reader = openUnit(unit, types.pps);
  const [id, ofSps] = [reader.unsigned(), reader.unsigned()];
  reader.flag();
  const hasOrderOfBottom = reader.flag();
  const sliceGroups = reader.unsigned() + 1;
  reader.unsigned();
  reader.unsigned();
  reader.bits(3);
  for (let count = 0; count < 3; count += 1) reader.signed();
  reader.bits(2);
  const hasRedundant = reader.flag();
  check(id <= 255 && ofSps === spsId && sliceGroups === 1 && !hasRedundant);
  return { id, hasOrderOfBottom };
}

/** Requires the slices of one IDR picture, from its first macroblock on, in order (7.3.3). */
function checkSlices(slices: Buffer[], sps: Sps, pps: Pps): void {
  let before = -1;
  let identity: string | undefined;
  for (const slice of slices) {
    const reader = openUnit(slice, types.keySlice);
    const [first, type, ppsId] = [reader.unsigned(), reader.unsigned(), reader.unsigned()];
    check(before < 0 ? first === 0 : first > before);
    check((type === intraSlice || type === onlyIntraSlices) && ppsId === pps.id);
    check(reader.bits(sps.frameNumberBits) === 0);
    const order = [reader.unsigned(), reader.bits(sps.orderBits)];
    if (pps.hasOrderOfBottom && sps.orderBits > 0) order.push(reader.signed());
    identity ??= order.join();
    check(identity === order.join());
    before = first;
  }
}

const intraSlice = 2;
const onlyIntraSlices = 7;
