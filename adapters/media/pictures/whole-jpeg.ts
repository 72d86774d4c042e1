import { setImmediate } from 'node:timers/promises';
import { createScanReader, readHuffman, type Huffman, type ScanReader } from './jpeg-bits.ts';

const markers = { tables: 0xc4, end: 0xd9, scan: 0xda, interval: 0xdd, frames: [0xc0, 0xc1, 0xc2] } as const;
const progressive = 0xc2;
/** Progressive pictures have some ten. */
const maxScans = 64;
/** Blocks that are read in one turn of the event loop: some milliseconds. */
const blocksAtOnce = 10_000;
const side = 8;
const coefficients = 64;
/** Bits of the largest mean of a block. */
const maxBits = 16;

type Component = { id: number; wide: number; high: number };
type Frame = { isProgressive: boolean; width: number; height: number; components: Component[] };
type Segments = {
  frame: Frame | undefined;
  /** Code lengths and symbols, by class and number. */
  tables: Map<number, Uint8Array>;
  /** Units between restart markers; 0 for none. */
  interval: number;
  /** Scans of a component, each once. */
  scans: Set<string>;
};
type Block = { dc: Huffman | null; ac: Huffman | null };
/** Coded data: units of blocks, with the coefficients from `first` to `last`. */
type Scan = { units: number; blocks: Block[]; first: number; last: number; isRefined: boolean };

/**
 * Returns false for a JPEG whose coded data is not that of exactly its blocks. Where a loss has shortened it, or joined two, decoders show a part
 * of another picture without an error. Data that refine coefficients, or whose tables are not there, are not read.
 */
export async function isWholeJpeg(jpeg: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  const segments: Segments = { frame: undefined, tables: new Map(), interval: 0, scans: new Set() };
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === markers.end) break;
    const content = bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2));
    at += marker === 0xff ? 1 : 4 + content.length;
    if (!readSegment(segments, marker, content)) return false;
    if (marker !== markers.scan) continue;
    const scan = readScan(segments, content);
    const end = scan && (await readBlocks(createScanReader(bytes, at), scan, segments.interval));
    if (end === null) return false;
    at = end;
  }
  const { frame, scans } = segments;
  return frame !== undefined && frame.components.every(({ id }) => scans.has(`${id} 0 false`));
}

/** Returns false for a second frame. */
function readSegment(segments: Segments, marker: number, content: Buffer): boolean {
  if (marker === markers.tables) readTables(segments.tables, content);
  if (marker === markers.interval && content.length >= 2) segments.interval = content.readUInt16BE();
  if (!markers.frames.some((known) => known === marker)) return true;
  const isFirst = segments.frame === undefined;
  segments.frame = readFrame(content, marker === progressive);
  return isFirst;
}

function readTables(tables: Map<number, Uint8Array>, content: Buffer): void {
  for (let at = 0; at + 17 <= content.length;) {
    const symbols = content.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0);
    tables.set(content[at] ?? 0, content.subarray(at + 1, at + 17 + symbols));
    at += 17 + symbols;
  }
}

function readFrame(content: Buffer, isProgressive: boolean): Frame {
  const components = Array.from({ length: Math.floor((content.length - 6) / 3) }, (_, index) => {
    const [id = 0, sampling = 0] = content.subarray(6 + 3 * index);
    return { id, wide: sampling >> 4 || 1, high: sampling & 0xf || 1 };
  });
  return { isProgressive, width: content.readUInt16BE(3), height: content.readUInt16BE(1), components };
}

/** Returns null for a scan that does not belong to its frame, or is a second one of the same. */
function readScan({ frame, tables, scans }: Segments, content: Buffer): Scan | null {
  const count = content[0] ?? 0;
  const [first = 0, last = 0, approximation = 0] = content.subarray(1 + 2 * count);
  const isRefined = approximation > 0xf;
  const blocks: Block[] = [];
  const used: Component[] = [];
  for (let at = 1; at < 1 + 2 * count; at += 2) {
    const component = frame?.components.find(({ id }) => id === content[at]);
    const name = `${content[at]} ${first} ${isRefined ? approximation : false}`;
    if (!component || scans.has(name) || scans.size > maxScans) return null;
    scans.add(name);
    used.push(component);
    const selected = content[at + 1] ?? 0;
    const [dc, ac] = [selected >> 4, 0x10 | (selected & 0xf)].map((key) => readHuffman(tables.get(key)));
    const repeated = count === 1 ? 1 : component.wide * component.high;
    blocks.push(...Array.from({ length: repeated }, () => ({ dc: dc ?? null, ac: ac ?? null })));
  }
  if (!frame || used.length === 0) return null;
  const end = frame.isProgressive ? last : coefficients - 1;
  return { units: countUnits(frame, used), blocks, first, last: end, isRefined };
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
  const { units, blocks, first, isRefined } = scan;
  const isUnknown = blocks.some(({ dc, ac }) => (first === 0 ? !dc : !ac) || (scan.last > 0 && !ac));
  if (!isRefined && isUnknown) return reader.pass();
  if (isRefined && first > 0) return reader.pass();
  let read = createBlockReader(reader, scan);
  for (let unit = 0, done = 0; unit < units; unit += 1) {
    if (interval > 0 && unit > 0 && unit % interval === 0) {
      if (!reader.passRestart()) return null;
      read = createBlockReader(reader, scan);
    }
    if (!blocks.every(read)) return null;
    done += blocks.length;
    if (done < blocksAtOnce) continue;
    done = 0;
    await setImmediate();
  }
  return reader.end();
}

/** Returns a function that reads a block, and returns false if it is damaged. */
function createBlockReader(reader: ScanReader, { first, last, isRefined }: Scan) {
  /** Blocks that follow without coefficients. */
  let empty = 0;
  return ({ dc, ac }: Block): boolean => {
    if (empty > 0) {
      empty -= 1;
      return true;
    }
    if (isRefined) reader.read(1);
    else if (!(first > 0 || readDirect(dc)) || !readOthers(ac)) return false;
    return !reader.isOver();
  };

  function readDirect(table: Huffman | null): boolean {
    const bits = table ? reader.readSymbol(table) : -1;
    if (bits >= 0 && bits <= maxBits) reader.read(bits);
    return bits >= 0 && bits <= maxBits;
  }

  function readOthers(table: Huffman | null): boolean {
    let at = Math.max(first, 1);
    while (at <= last) {
      const symbol = table ? reader.readSymbol(table) : -1;
      const [zeros, bits] = [symbol >> 4, symbol & 0xf];
      if (symbol < 0) return false;
      if (bits === 0 && zeros < 0xf) {
        empty = (1 << zeros) + reader.read(zeros) - 1;
        return empty === 0 || first > 0;
      }
      reader.read(bits);
      at += zeros + 1;
    }
    return at === last + 1;
  }
}
