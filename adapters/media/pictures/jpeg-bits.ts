/** Symbols by the next 16 bits, each behind the length of its code; 0 where no code begins so. */
export type Huffman = Uint16Array;

export type ScanReader = ReturnType<typeof createScanReader>;

const [peeked, codes] = [16, 65_536];
const restart = { first: 0xd0, last: 0xd7 } as const;
/** Returns null without a table. `content` begins with the numbers of codes of each length. */
export function readHuffman(content: Uint8Array | undefined): Huffman | null {
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
 * Creates a reader of the coded data from `at` on. Behind their end it reads zeros. At most `maxOtherBytes` may follow,
 * beside any number that fill.
 */
export function createScanReader(bytes: Uint8Array, at: number, maxOtherBytes: number) {
  /** The newest `count` bits, of which the last `missing` do not exist. */
  let [held, count, missing] = [0, 0, 0];
  return { readSymbol, read, isOver: () => missing > count, passRestart, end, pass };

  function fill(bits: number): void {
    while (count < bits) {
      const byte = bytes[at] ?? 0;
      const isData = at < bytes.length && (byte !== 0xff || bytes[at + 1] === 0);
      if (isData) at += byte === 0xff ? 2 : 1;
      else missing += 8;
      held = (held << 8) | (isData ? byte : 0);
      count += 8;
    }
  }

  /** Returns -1 for bits that are no code. */
  function readSymbol(table: Huffman): number {
    fill(peeked);
    const found = table[(held >>> (count - peeked)) & (codes - 1)] ?? 0;
    count -= found >> 8;
    return found === 0 ? -1 : found & 0xff;
  }

  function read(bits: number): number {
    fill(bits);
    count -= bits;
    return (held >>> count) & ((1 << bits) - 1);
  }

  /** Goes behind a restart marker. Returns false without one, or if data precede it. */
  function passRestart(): boolean {
    if (!endsHere() || !isRestart()) return false;
    at += 2;
    return true;
  }

  /** Returns the position of the marker that ends the scan; null if there is more data than was read. */
  function end(): number | null {
    if (!endsHere()) return null;
    if (isRestart()) at += 2;
    return endsHere() && !isRestart() ? at : null;
  }

  /** Goes to the marker that ends the scan, without reading. */
  function pass(): number {
    while (at < bytes.length && (!isMarker() || isRestart())) at += 1;
    return at;
  }

  function endsHere(): boolean {
    let others = 0;
    for (let left = (count - missing) >> 3; left > 0; left -= 1)
      note((held >>> (missing + 8 * left - 8)) & 0xff);
    [held, count, missing] = [0, 0, 0];
    for (; at < bytes.length && !isMarker() && others <= maxOtherBytes; at += 1) note(bytes[at] ?? 0);
    return others <= maxOtherBytes;

    function note(byte: number): void {
      if (byte !== 0xff) others += 1;
    }
  }

  /** Fill bytes may precede a marker. */
  function isMarker(): boolean {
    const next = bytes[at + 1] ?? 0;
    return bytes[at] === 0xff && next !== 0 && next !== 0xff;
  }

  function isRestart(): boolean {
    const marker = bytes[at + 1] ?? 0;
    return marker >= restart.first && marker <= restart.last;
  }
}
