import type { AccessUnit } from './access-unit-assembler.ts';

/** Memory of the key frames that all sessions keep for scans. */
export type KeyFrameMemory = {
  /** Adds a key frame, and drops the oldest ones of all sessions above the limit. */
  add(frame: StoredKeyFrame): void;
  delete(frame: StoredKeyFrame): void;
  bytes(): number;
};

type StoredKeyFrame = { number: number; unit: AccessUnit; drop: () => void };

/** Key frames of a session since a position, oldest first. */
export type KeyFramesSince = {
  units: readonly AccessUnit[];
  /** Number of the newest key frame of the session. */
  newest: number;
  /** True if the session has dropped none since the position, and has received all. */
  isWhole: boolean;
};

/** Key frames of one session, undecoded, for scans. Keeps none until the first scan. */
export type KeyFrameStore = {
  add(unit: AccessUnit): void;
  /** Counts a place that a scan leaves out: a refresh has no key frame. */
  skip(): void;
  /** Keeps key frames from now on, as long as scans need them. */
  begin(): void;
  /** Returns the key frames after a number; all of them with `null`. */
  since(number: number | null): KeyFramesSince;
  clear(): void;
};

/** Memory of a key frame beside its bytes. */
const overheadBytes = 512;
/** Maximum age of a key frame, until it is known how much scans need: checks of sessions are at most half as far apart. */
const maxAgeMs = 60_000;
const learnMs = 40_000;
/** Time without a scan after which a session keeps none. */
const keepMs = 65_000;
/** Reserve of the time that scans need: a tick may be late. */
const reserve = { factor: 1.25, ms: 3_000 };
/** Minimum time between two key frames: some cameras send nothing else. */
const minDistanceMs = 870;

/** Creates the memory of all sessions. */
export function createKeyFrameMemory(maxBytes: number): KeyFrameMemory {
  const frames = new Set<StoredKeyFrame>();
  let usedBytes = 0;
  const remove = (frame: StoredKeyFrame): void => {
    if (frames.delete(frame)) usedBytes -= frame.unit.bytes.length + overheadBytes;
  };
  return {
    add(frame) {
      frames.add(frame);
      usedBytes += frame.unit.bytes.length + overheadBytes;
      for (const oldest of frames) {
        if (usedBytes <= maxBytes) return;
        remove(oldest);
        oldest.drop();
      }
    },
    delete: remove,
    bytes: () => usedBytes,
  };
}

/** Creates the store of one session. */
export function createKeyFrameStore(memory: KeyFrameMemory, elapsedMs: () => number): KeyFrameStore {
  let frames: StoredKeyFrame[] = [];
  let newest = 0;
  /** Number of the newest key frame that was not kept, or was dropped. */
  let dropped = 0;
  let begunMs: number | undefined;
  let scannedMs = 0;
  let needs: { ageMs: number; atMs: number }[] = [];
  return { add, skip, begin, since, clear };

  function add(unit: AccessUnit): void {
    if (begunMs === undefined) return skip();
    newest += 1;
    if (unit.arrivedMs - scannedMs > keepMs) return end();
    const last = frames.at(-1);
    if (last && Math.abs(unit.arrivedMs - last.unit.arrivedMs) < minDistanceMs) return;
    const frame: StoredKeyFrame = { number: newest, unit, drop: () => forget(frame) };
    frames.push(frame);
    memory.add(frame);
    const ageMs = neededMs();
    for (const old of frames.slice(0, -1)) {
      if (unit.arrivedMs - old.unit.arrivedMs <= ageMs) break;
      memory.delete(old);
      forget(old);
    }
  }

  function skip(): void {
    newest += 1;
    dropped = newest;
  }

  function begin(): void {
    scannedMs = elapsedMs();
    begunMs ??= scannedMs;
  }

  /** Returns the age that the scans of the last minute needed. */
  function neededMs(): number {
    needs = needs.filter(({ atMs }) => elapsedMs() - atMs <= keepMs);
    const isLearning = elapsedMs() - (begunMs ?? 0) <= learnMs;
    return isLearning ? maxAgeMs : Math.min(maxAgeMs, Math.max(0, ...needs.map(({ ageMs }) => ageMs)));
  }

  function since(number: number | null): KeyFramesSince {
    const found = frames.filter((frame) => frame.number > (number ?? 0));
    const [oldest] = found;
    if (number !== null && oldest) {
      const atMs = elapsedMs();
      needs.push({ ageMs: (atMs - oldest.unit.arrivedMs) * reserve.factor + reserve.ms, atMs });
    }
    return {
      units: found.map(({ unit }) => unit),
      newest,
      isWhole: number !== null && number >= dropped && number <= newest,
    };
  }

  function forget({ number }: StoredKeyFrame): void {
    dropped = Math.max(dropped, number);
    frames = frames.filter((frame) => frame.number > number);
  }

  function end(): void {
    clear();
    dropped = newest;
    begunMs = undefined;
  }

  function clear(): void {
    for (const frame of frames) memory.delete(frame);
    frames = [];
  }
}
