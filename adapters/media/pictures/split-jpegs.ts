/** Splitter of a byte stream into its JPEGs. */
export type JpegSplitter = {
  /**
   * Returns copies of the JPEGs that end in the chunk, oldest first, from start to end marker. Throws `JpegTooLargeError` if one exceeds the
   * maximum size.
   */
  push(chunk: Uint8Array): Uint8Array[];
  /** Returns true in the middle of a JPEG. */
  isWithin(): boolean;
};

/** A JPEG without an end within the maximum size. */
export class JpegTooLargeError extends Error {
  override readonly name = 'JpegTooLargeError';
}

const markers = { start: 0xd8, end: 0xd9, scan: 0xda, min: 0xc0, restart: [0xd0, 0xd7] } as const;
const startBytes = Buffer.from([0xff, markers.start, 0xff]);
const minCapacity = 64 * 1024;

/**
 * Creates a splitter that finds JPEGs by their own structure. Boundaries and lengths between them are ignored, because servers omit them or state
 * wrong ones. Thumbnails are skipped with the segment that has them. `maxBytes` bounds one JPEG, and so the memory of the splitter. Each byte is
 * read once, also if it is malformed.
 */
export function createJpegSplitter({ maxBytes }: { maxBytes: number }): JpegSplitter {
  let buffer = Buffer.alloc(minCapacity);
  /** Span of the buffer that is not returned or dropped. */
  let [from, to] = [0, 0];
  /** Position up to which the JPEG at `from` is read; null before its start is found. */
  let at: number | null = null;
  let inScan = false;
  return {
    push(chunk) {
      append(chunk);
      const jpegs: Uint8Array[] = [];
      for (let jpeg = readNext(); jpeg !== null; jpeg = readNext()) jpegs.push(jpeg);
      if (to - from > maxBytes || jpegs.some(({ length }) => length > maxBytes))
        throw new JpegTooLargeError('JPEG is larger than allowed');
      return jpegs;
    },
    isWithin: () => at !== null,
  };

  function append(chunk: Uint8Array): void {
    const needed = to - from + chunk.length;
    const target = needed > buffer.length ? Buffer.alloc(2 * needed) : buffer;
    if (target !== buffer || to + chunk.length > buffer.length) {
      buffer.copy(target, 0, from, to);
      if (at !== null) at -= from;
      [from, to] = [0, to - from];
      buffer = target;
    }
    buffer.set(chunk, to);
    to += chunk.length;
  }

  function readNext(): Uint8Array | null {
    for (;;) {
      at ??= findStart();
      if (at === null) return null;
      const read = readOn(at);
      at = read.at;
      if (read.state === 'incomplete') return null;
      const jpeg = read.state === 'complete' ? new Uint8Array(buffer.subarray(from, at)) : null;
      from = at;
      at = null;
      inScan = false;
      if (jpeg !== null) return jpeg;
    }
  }

  /** Drops what precedes the next start marker. Keeps the bytes that may begin one. */
  function findStart(): number | null {
    const start = buffer.indexOf(startBytes, from);
    // Behind `to` are bytes of earlier chunks.
    const isFound = start !== -1 && start + startBytes.length <= to;
    from = isFound ? start : Math.max(from, to - (startBytes.length - 1));
    return isFound ? from + 2 : null;
  }

  /** Reads segments and scans. Returns the position that is read: the end of the JPEG, or the first byte that cannot belong to it. */
  function readOn(position: number): { state: 'complete' | 'malformed' | 'incomplete'; at: number } {
    for (let here = position; ;) {
      if (inScan) here = findMarker(here);
      while (here + 1 < to && buffer[here] === 0xff && buffer[here + 1] === 0xff) here += 1;
      if (here + 2 > to) return { state: 'incomplete', at: here };
      inScan = false;
      const marker = buffer[here + 1] ?? 0;
      if (marker === markers.end && buffer[here] === 0xff) return { state: 'complete', at: here + 2 };
      if (buffer[here] !== 0xff || marker < markers.min || marker === markers.start)
        return { state: 'malformed', at: here };
      if (here + 4 > to) return { state: 'incomplete', at: here };
      const end = here + 2 + Math.max(2, buffer.readUInt16BE(here + 2));
      if (end > to) return { state: 'incomplete', at: here };
      inScan = marker === markers.scan;
      here = end;
    }
  }

  /** Returns the position of the marker that ends coded data; without one, that of the first byte which may begin it. */
  function findMarker(position: number): number {
    const [firstRestart, lastRestart] = markers.restart;
    for (let here = position; ; here += 2) {
      // Behind `to` are bytes of earlier chunks.
      while (here < to && buffer[here] !== 0xff) here += 1;
      const next = buffer[here + 1] ?? 0;
      const isData = next === 0 || (next >= firstRestart && next <= lastRestart);
      if (here + 2 > to || !isData) return Math.min(here, to);
    }
  }
}
