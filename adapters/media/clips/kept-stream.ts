import { createFairByteCache, ownBytes } from '../../byte-cache.ts';

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

/**
 * Returns how long a part may be needed, in seconds: until an opening of a scan that ended with it is decided, and its
 * clip is joined.
 */
export function computeKeepSeconds(beforeSeconds: number): number {
  return beforeSeconds + 35;
}

/** Access units of a group of pictures of RTSP, in decoding order, as places in its bytes. */
export type GroupUnits = {
  codec: 'H264' | 'H265';
  clockRate: number;
  size: string;
  entries: readonly { length: number; isKeyFrame: boolean; timestamp: number }[];
};

/** Parts of streams that captures and clips have read, by caller and stream. */
export type KeptStreams = ReturnType<typeof createKeptStreams>;

const maxParts = 20_000;

type HeldPart = KeptPart & { caller: string; stream: string };

/** Creates the memory of streams. What does not fit is removed from the caller with the most, its oldest part first. */
export function createKeptStreams({ maxBytes, now }: { maxBytes: number; now: () => Date }) {
  const cache = createFairByteCache<HeldPart>({
    name: 'streams of clips',
    max: maxParts,
    maxBytes,
    onEvict: forget,
  });
  /** The same parts by stream: hundreds are added in a second, and each is looked for in its own stream only. */
  const streams = new Map<string, Map<string, HeldPart>>();
  return {
    add: (caller: string, stream: string, part: KeptPart): void => {
      const kept = streams.get(toKey(caller, stream)) ?? new Map<string, HeldPart>();
      removeOld(kept);
      if (!kept.has(part.id)) keep(caller, stream, part);
    },
    /** Returns the parts of a stream, oldest first. */
    list: (caller: string, stream: string) =>
      [...(streams.get(toKey(caller, stream))?.values() ?? [])].toSorted(
        (one, other) => one.startMs - other.startMs,
      ),
    /** Keeps parts for a time from now on, also those that have expired since they were listed. */
    hold: (caller: string, stream: string, held: readonly KeptPart[], seconds: number): void => {
      for (const part of held) {
        const keepSeconds = (now().getTime() - part.endMs) / 1000 + seconds;
        keep(caller, stream, { ...part, keepSeconds: Math.max(part.keepSeconds, keepSeconds) });
      }
    },
    /** Removes what no clip needs any more. */
    purge: (): void => {
      for (const kept of streams.values()) removeOld(kept);
    },
    removeCaller: (caller: string): void => {
      for (const kept of streams.values())
        for (const part of kept.values()) if (part.caller === caller) remove(part);
    },
  };

  function keep(caller: string, stream: string, part: KeptPart): void {
    const held = { ...part, caller, stream, bytes: ownBytes(part.bytes) };
    const key = toKey(caller, stream);
    const kept = streams.get(key) ?? new Map<string, HeldPart>();
    streams.set(key, kept.set(part.id, held));
    cache.set(caller, toKey(stream, part.id), held);
  }

  function removeOld(kept: ReadonlyMap<string, HeldPart>): void {
    const nowMs = now().getTime();
    for (const part of kept.values())
      if (Math.abs(nowMs - part.endMs) > part.keepSeconds * 1000) remove(part);
  }

  function remove(part: HeldPart): void {
    cache.delete(part.caller, toKey(part.stream, part.id));
    forget(part);
  }

  function forget({ caller, stream, id }: HeldPart): void {
    const key = toKey(caller, stream);
    const kept = streams.get(key);
    kept?.delete(id);
    if (kept?.size === 0) streams.delete(key);
  }
}

function toKey(...names: string[]): string {
  return JSON.stringify(names);
}
