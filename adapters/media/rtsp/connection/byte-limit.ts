/** Limit on what a server may send, counted with each chunk and its messages and packets. Returns false beyond it. */
export type ByteLimit = (chunkBytes: number, items: number) => boolean;

export function createByteTotal(maxBytes: number): ByteLimit {
  let bytes = 0;
  return (chunkBytes) => (bytes += chunkBytes) <= maxBytes;
}

/** Work per message or packet, as bytes: a flood of tiny ones is slower to read than video. */
const itemBytes = 500;

/** Limit on bytes per second, for a connection without an end, and a clock in milliseconds. */
export type ByteRate = { maxBytesPerSecond: number; maxBurstBytes: number; elapsedMs: () => number };

/** Creates a limit on the mean rate, with bursts: key frames, and what a server had stored. */
export function createByteRate({ maxBytesPerSecond, maxBurstBytes, elapsedMs }: ByteRate): ByteLimit {
  let lastMs = elapsedMs();
  let freeBytes = maxBurstBytes;
  return (chunkBytes, items) => {
    const nowMs = elapsedMs();
    freeBytes = Math.min(maxBurstBytes, freeBytes + ((nowMs - lastMs) / 1000) * maxBytesPerSecond);
    lastMs = nowMs;
    freeBytes -= chunkBytes + items * itemBytes;
    return freeBytes >= 0;
  };
}
