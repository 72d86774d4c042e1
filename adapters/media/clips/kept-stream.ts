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
  /** Access units in `bytes`, of a session. */
  units?: GroupUnits;
  /** Time after its end for which a clip may need it, in seconds. */
  keepSeconds: number;
};

/** Returns how long a part may be needed, in seconds: until an opening of a scan that ended with it is decided, and its clip is joined. */
export function computeKeepSeconds(beforeSeconds: number): number {
  return beforeSeconds + 45;
}

/** Access units of a group of pictures of RTSP, in decoding order, as places in its bytes. */
export type GroupUnits = {
  codec: 'H264' | 'H265';
  clockRate: number;
  size: string;
  entries: readonly { length: number; isKeyFrame: boolean; timestamp: number }[];
};

/** Parts of streams that captures and clips have read, by caller and stream. */
export type KeptStreams = {
  add(caller: string, stream: string, part: KeptPart): void;
  /** Returns the parts of a stream, oldest first. */
  list(caller: string, stream: string): KeptPart[];
};

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
      const nowMs = now().getTime();
      for (const { caller: owner, stream: other, id, endMs, keepSeconds } of parts.values())
        if (Math.abs(nowMs - endMs) > keepSeconds * 1000) parts.delete(owner, toKey(other, id));
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
