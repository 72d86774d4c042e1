import { setImmediate } from 'node:timers/promises';

const markers = { tables: 0xc4, end: 0xd9, scan: 0xda, interval: 0xdd, frames: [0xc0, 0xc1, 0xc2] } as const;
const progressive = 0xc2;
/** Progressive pictures have some ten. */
const maxScans = 64;
/** Blocks that are read in one turn of the event loop: some milliseconds. */
const blocksAtOnce = 10_000;
/**
 * Bytes behind the last block that some cameras write. Zeros are blocks without a change. Only libraries write
 * progressive pictures.
 */
const maxOtherBytes = 16;
const side = 8;
/** Bytes of a frame in front of its components. */
const headBytes = 6;
const maxComponents = 4;
/** Bits that are missing of a coefficient before its first scan. */
const all = 255;

type Component = {
  id: number;
  wide: number;
  high: number;
  /** Bits that the scans so far leave out, of each coefficient. */
  left: Uint8Array;
  /** One bit for each coefficient of each block that is not zero, where later scans refine them. */
  others: Uint8Array;
};
type Frame = { isProgressive: boolean; width: number; height: number; components: Component[] };
type Segments = {
  frame: Frame | undefined;
  /** Code lengths and symbols, by class and number. */
  tables: Map<number, Uint8Array>;
  /** Units between restart markers; 0 for none. */
  interval: number;
  scans: number;
};

/**
 * Returns false for a JPEG whose coded data is not that of exactly its blocks. Where a loss has shortened it, or joined
 * two, decoders show a part of another picture without an error. Data whose tables are not there are not read.
 */
export async function isWholeJpeg(jpeg: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  const segments: Segments = { frame: undefined, tables: new Map(), interval: 0, scans: 0 };
  for (let offset = 2; offset + 2 <= bytes.length;) {
    const marker = bytes[offset + 1] ?? 0;
    if (bytes[offset] !== 0xff) return false;
    if (marker === markers.end) break;
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    const length = offset + 4 <= bytes.length ? bytes.readUInt16BE(offset + 2) : 0;
    const content = bytes.subarray(offset + 4, offset + 2 + length);
    offset += 2 + length;
    if (length < 2 || offset > bytes.length || !readSegment(segments, marker, content)) return false;
    if (marker !== markers.scan) continue;
    const scan = readScan(segments, content);
    const others = segments.frame?.isProgressive ? 0 : maxOtherBytes;
    const end = scan && (await readBlocks(createScanReader(bytes, offset, others), scan, segments.interval));
    if (end === null) return false;
    offset = end;
  }
  return segments.frame?.components.every(({ left }) => left[0] !== all) ?? false;
}

/** Returns false for a second frame, and for one that is cut. */
function readSegment(segments: Segments, marker: number, content: Buffer): boolean {
  if (marker === markers.tables) readTables(segments.tables, content);
  if (marker === markers.interval && content.length >= 2) segments.interval = content.readUInt16BE();
  if (!markers.frames.some((frame) => frame === marker)) return true;
  if (segments.frame || content.length < headBytes) return false;
  segments.frame = readFrame(content, marker === progressive);
  return true;
}

function readTables(tables: Map<number, Uint8Array>, content: Buffer): void {
  for (let offset = 0; offset + 17 <= content.length;) {
    const symbols = content.subarray(offset + 1, offset + 17).reduce((sum, count) => sum + count, 0);
    tables.set(content[offset] ?? 0, content.subarray(offset + 1, offset + 17 + symbols));
    offset += 17 + symbols;
  }
}

function readFrame(content: Buffer, isProgressive: boolean): Frame {
  const length = Math.min(maxComponents, Math.floor((content.length - headBytes) / 3));
  const components = Array.from({ length }, (_, index) => {
    const [id = 0, sampling = 0] = content.subarray(headBytes + 3 * index);
    const [wide, high] = [sampling >> 4 || 1, sampling & 0xf || 1];
    return { id, wide, high, left: new Uint8Array(coefficients).fill(all), others: new Uint8Array() };
  });
  return { isProgressive, width: content.readUInt16BE(3), height: content.readUInt16BE(1), components };
}

/** Returns null for a scan that does not belong to its frame, or whose coefficients are not the next ones. */
function readScan(segments: Segments, content: Buffer): Scan | null {
  const { frame, tables } = segments;
  const count = content[0] ?? 0;
  if (!frame || count === 0 || (segments.scans += 1) > maxScans) return null;
  const { first, last, high, low } = readBand(frame, content.subarray(1 + 2 * count));
  const blocks: Block[] = [];
  const used: Component[] = [];
  for (let offset = 1; offset < 1 + 2 * count; offset += 2) {
    const component = frame.components.find(({ id }) => id === content[offset]);
    const band = component?.left.subarray(first, last + 1);
    if (!component || last >= coefficients || !band?.every((left) => left === high)) return null;
    band.fill(low);
    used.push(component);
    const selected = content[offset + 1] ?? 0;
    const [dc, ac] = [selected >> 4, 0x10 | (selected & 0xf)].map((key) => readHuffman(tables.get(key)));
    const repeated = count === 1 ? 1 : component.wide * component.high;
    blocks.push(...Array.from({ length: repeated }, () => ({ dc: dc ?? null, ac: ac ?? null })));
  }
  const units = countUnits(frame, used);
  const isRefined = high !== all;
  const [only] = used;
  if (first === 0 || !only) return { units, blocks, first, last, isRefined };
  if (count > 1) return null;
  if (only.others.length === 0) only.others = new Uint8Array((units * coefficients) / 8);
  return { units, blocks, first, last, isRefined, others: only.others };
}

/**
 * Returns the coefficients of a scan, and the bits that are left out of them before and after it. Other pictures have
 * one scan, whose values are of no use.
 */
function readBand({ isProgressive }: Frame, [first = 0, last = 0, bits = 0]: Uint8Array) {
  if (!isProgressive) return { first: 0, last: coefficients - 1, high: all, low: 0 };
  return { first, last, high: bits >> 4 || all, low: bits & 0xf };
}

/** A scan of one component has the blocks of its own size. */
function countUnits({ width, height, components }: Frame, used: Component[]): number {
  const wide = Math.max(...components.map((component) => component.wide));
  const high = Math.max(...components.map((component) => component.high));
  const [only = { wide, high }, ...others] = used;
  const unit = others.length > 0 ? { wide: 1, high: 1 } : only;
  const across = Math.ceil(Math.ceil((width * unit.wide) / wide) / side);
  return others.length > 0
    ? Math.ceil(width / (side * wide)) * Math.ceil(height / (side * high))
    : across * Math.ceil(Math.ceil((height * unit.high) / high) / side);
}

/** Returns the position behind the data of a scan; null if they are damaged. */
async function readBlocks(reader: ScanReader, scan: Scan, interval: number): Promise<number | null> {
  const { units, blocks, first, last, isRefined } = scan;
  const isUnknown = blocks.some(({ dc, ac }) => (first === 0 && !isRefined && !dc) || (last > 0 && !ac));
  if (isUnknown) return reader.pass();
  let read = createBlockReader(reader, scan);
  for (let unit = 0, done = 0; unit < units; unit += 1) {
    if (interval > 0 && unit > 0 && unit % interval === 0) {
      if (!reader.passRestart()) return null;
      read = createBlockReader(reader, scan);
    }
    if (!blocks.every((block) => read(block, unit))) return null;
    done += blocks.length;
    if (done < blocksAtOnce) continue;
    done = 0;
    await setImmediate();
  }
  return reader.end();
}

const coefficients = 64;
/** Bits of the largest mean of a block. */
const maxBits = 16;

type Block = { dc: Huffman | null; ac: Huffman | null };

/** Coded data: units of blocks, with the coefficients from `first` to `last`. */
type Scan = {
  units: number;
  blocks: Block[];
  first: number;
  last: number;
  /** True for data that are one more bit of coefficients. */
  isRefined: boolean;
  /** One bit for each coefficient of each unit that is not zero, in scans without the mean. */
  others?: Uint8Array;
};

/** Returns a function that reads a block of a unit (ITU-T T.81, F.2 and G.2), and returns false if it is damaged. */
function createBlockReader(reader: ScanReader, { first, last, isRefined, others }: Scan) {
  /** Blocks that follow without new coefficients. */
  let empty = 0;
  return ({ dc, ac }: Block, unit: number): boolean => {
    if (isRefined && first === 0) reader.read(1);
    else if (!(first > 0 || readDirect(dc)) || !readOthers(ac, unit)) return false;
    return !reader.isOver();
  };

  function readDirect(table: Huffman | null): boolean {
    const bits = table ? reader.readSymbol(table) : -1;
    if (bits >= 0 && bits <= maxBits) reader.read(bits);
    return bits >= 0 && bits <= maxBits;
  }

  function readOthers(table: Huffman | null, unit: number): boolean {
    let place = Math.max(first, 1);
    while (empty === 0 && place <= last) {
      const symbol = table ? reader.readSymbol(table) : -1;
      const [zeros, bits] = [symbol >> 4, symbol & 0xf];
      if (symbol < 0 || (isRefined && bits > 1)) return false;
      if (bits === 0 && zeros < 0xf) {
        empty = (1 << zeros) + reader.read(zeros);
        if (empty > 1 && first === 0) return false;
        break;
      }
      reader.read(bits);
      place = passZeros(place, zeros, unit);
      if (bits > 0) note(unit, place);
      place += 1;
    }
    if (empty === 0) return place === last + 1;
    empty -= 1;
    passZeros(place, coefficients, unit);
    return true;
  }

  /** Returns the position behind a number of zeros. Each coefficient between them has one more bit. */
  function passZeros(from: number, zeros: number, unit: number): number {
    if (!isRefined) return from + zeros;
    let [place, left] = [from, zeros];
    for (; place <= last; place += 1)
      if (isOther(unit, place)) reader.read(1);
      else if (left === 0) break;
      else left -= 1;
    return place;
  }

  function isOther(unit: number, place: number): boolean {
    return (((others?.[(unit * coefficients + place) >> 3] ?? 0) >> (place & 7)) & 1) === 1;
  }

  function note(unit: number, place: number): void {
    const index = (unit * coefficients + place) >> 3;
    if (others && place <= last) others[index] = (others[index] ?? 0) | (1 << (place & 7));
  }
}

/** Symbols by the next 16 bits, each behind the length of its code; 0 where no code begins so. */
type Huffman = Uint16Array;

type ScanReader = ReturnType<typeof createScanReader>;

const [peeked, codes] = [16, 65_536];
const restart = { first: 0xd0, last: 0xd7 } as const;
/** Returns null without a table. `content` begins with the numbers of codes of each length. */
function readHuffman(content: Uint8Array | undefined): Huffman | null {
  if (content === undefined) return null;
  const table = new Uint16Array(codes);
  let [code, symbols] = [0, peeked];
  for (let length = 1; length <= peeked; length += 1) {
    const span = codes >> length;
    for (let count = content[length - 1] ?? 0; count > 0; count -= 1, symbols += 1, code += span) {
      if (code + span > codes) return null;
      table.fill((length << 8) | (content[symbols] ?? 0), code, code + span);
    }
  }
  return table;
}

/**
 * Creates a reader of the coded data from `offset` on. Behind their end it reads zeros. At most `maxOthers` may follow,
 * beside any number that fill.
 */
function createScanReader(bytes: Uint8Array, offset: number, maxOthers: number) {
  /** The newest `count` bits, of which the last `missing` do not exist. */
  let [held, count, missing] = [0, 0, 0];
  return { readSymbol, read, isOver: () => missing > count, passRestart, end, pass };

  function fill(bits: number): void {
    while (count < bits) {
      const byte = bytes[offset] ?? 0;
      const isData = offset < bytes.length && (byte !== 0xff || bytes[offset + 1] === 0);
      if (isData) offset += byte === 0xff ? 2 : 1;
      else missing += 8;
      held = (held << 8) | (isData ? byte : 0);
      count += 8;
    }
  }

  /** Returns -1 for bits that are no code. */
  function readSymbol(table: Huffman): number {
    fill(peeked);
    const entry = table[(held >>> (count - peeked)) & (codes - 1)] ?? 0;
    count -= entry >> 8;
    return entry === 0 ? -1 : entry & 0xff;
  }

  function read(bits: number): number {
    fill(bits);
    count -= bits;
    return (held >>> count) & ((1 << bits) - 1);
  }

  /** Goes behind a restart marker. Returns false without one, or if data precede it. */
  function passRestart(): boolean {
    if (!endsHere() || !isRestart()) return false;
    offset += 2;
    return true;
  }

  /** Returns the position of the marker that ends the scan; null if there is more data than was read. */
  function end(): number | null {
    if (!endsHere()) return null;
    if (isRestart()) offset += 2;
    return endsHere() && !isRestart() ? offset : null;
  }

  /** Goes to the marker that ends the scan, without reading. */
  function pass(): number {
    while (offset < bytes.length && (!isMarker() || isRestart())) offset += 1;
    return offset;
  }

  function endsHere(): boolean {
    let others = 0;
    for (let left = (count - missing) >> 3; left > 0; left -= 1)
      note((held >>> (missing + 8 * left - 8)) & 0xff);
    [held, count, missing] = [0, 0, 0];
    for (; offset < bytes.length && !isMarker() && others <= maxOthers; offset += 1) note(bytes[offset] ?? 0);
    return others <= maxOthers;

    function note(byte: number): void {
      if (byte !== 0xff) others += 1;
    }
  }

  /** Fill bytes may precede a marker. */
  function isMarker(): boolean {
    const next = bytes[offset + 1] ?? 0;
    return bytes[offset] === 0xff && next !== 0 && next !== 0xff;
  }

  function isRestart(): boolean {
    const marker = bytes[offset + 1] ?? 0;
    return marker >= restart.first && marker <= restart.last;
  }
}
