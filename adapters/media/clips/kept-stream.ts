import { createFairByteCache } from '../../byte-cache.ts';
import { ownBytes } from '../../retained-bytes.ts';

/** Part of a stream that can be joined with others of its `encoding`. Times on the clock of the captures. */
export type KeptPart = {
  /** Identity in the stream. */
  id: string;
  /** Number of its place: the next part has one more. */
  place: bigint;
  startMs: number;
  endMs: number;
  /** True if it does not continue the one before. */
  isBreak: boolean;
  format: 'mpegts' | 'mov';
  /** Media initialization section; `null` without one. */
  initialization: Uint8Array | null;
  bytes: Uint8Array;
};

/** Parts of streams that captures and clips have read, by caller and stream. */
export type KeptStreams = {
  add(caller: string, stream: string, part: KeptPart): void;
  /** Returns the parts of a stream, oldest first. */
  list(caller: string, stream: string): KeptPart[];
};

/** Time for which a part may be needed, in milliseconds: the longest clip, and the time until an opening is decided. */
const keptMs = 150_000;
const maxParts = 20_000;

/** Creates the memory of streams. What does not fit is removed from the caller with the most, its oldest part first. */
export function createKeptStreams({ maxBytes, now }: { maxBytes: number; now: () => Date }): KeptStreams {
  const parts = createFairByteCache<KeptPart & { caller: string; stream: string }>({
    name: 'streams of clips',
    max: maxParts,
    maxBytes,
  });
  return {
    add: (caller, stream, part) => {
      for (const { caller: owner, stream: other, id, endMs } of parts.values())
        if (Math.abs(now().getTime() - endMs) > keptMs) parts.delete(owner, toKey(other, id));
      const key = toKey(stream, part.id);
      if (parts.get(caller, key)) return;
      parts.set(caller, key, { ...part, caller, stream, bytes: ownBytes(part.bytes) });
    },
    list: (caller, stream) =>
      [...parts.values()]
        .filter((part) => part.caller === caller && part.stream === stream)
        .toSorted((one, other) => one.startMs - other.startMs),
  };
}

function toKey(stream: string, id: string): string {
  return JSON.stringify([stream, id]);
}
