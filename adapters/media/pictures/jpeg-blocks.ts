import type { Huffman, ScanReader } from './jpeg-bits.ts';

export const coefficients = 64;
/** Bits of the largest mean of a block. */
const maxBits = 16;

export type Block = { dc: Huffman | null; ac: Huffman | null };

/** Coded data: units of blocks, with the coefficients from `first` to `last`. */
export type Scan = {
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
export function createBlockReader(reader: ScanReader, { first, last, isRefined, others }: Scan) {
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
    let at = Math.max(first, 1);
    while (empty === 0 && at <= last) {
      const symbol = table ? reader.readSymbol(table) : -1;
      const [zeros, bits] = [symbol >> 4, symbol & 0xf];
      if (symbol < 0 || (isRefined && bits > 1)) return false;
      if (bits === 0 && zeros < 0xf) {
        empty = (1 << zeros) + reader.read(zeros);
        if (empty > 1 && first === 0) return false;
        break;
      }
      reader.read(bits);
      at = passZeros(at, zeros, unit);
      if (bits > 0) note(unit, at);
      at += 1;
    }
    if (empty === 0) return at === last + 1;
    empty -= 1;
    passZeros(at, coefficients, unit);
    return true;
  }

  /** Returns the position behind a number of zeros. Each coefficient between them has one more bit. */
  function passZeros(from: number, zeros: number, unit: number): number {
    if (!isRefined) return from + zeros;
    let [at, left] = [from, zeros];
    for (; at <= last; at += 1)
      if (isOther(unit, at)) reader.read(1);
      else if (left === 0) break;
      else left -= 1;
    return at;
  }

  function isOther(unit: number, at: number): boolean {
    return (((others?.[(unit * coefficients + at) >> 3] ?? 0) >> (at & 7)) & 1) === 1;
  }

  function note(unit: number, at: number): void {
    const index = (unit * coefficients + at) >> 3;
    if (others && at <= last) others[index] = (others[index] ?? 0) | (1 << (at & 7));
  }
}
