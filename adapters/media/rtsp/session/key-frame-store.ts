import { rules } from '../../../../core/rules.ts';
import { findLargest } from '../../../fair-cache.ts';
import { minDistanceSeconds, sparseSeconds } from '../../scan/measure-scan.ts';
import type { AccessUnit } from '../rtp/access-unit-assembler.ts';

/** Memory of what all sessions keep for scans. */
export type KeyFrameMemory = ReturnType<typeof createKeyFrameMemory>;

type StoredKeyFrame = {
  caller: string;
  number: number;
  unit: AccessUnit;
  /** Frames up to the next key frame. Empty if key frames are near each other. */
  rest: readonly AccessUnit[];
  drop: () => void;
};

/** Group of pictures: a key frame, and the frames up to the next one. */
export type NumberedGroup = { number: number; units: readonly AccessUnit[] };

/** Key frames of a session since a position, oldest first. */
export type KeyFramesSince = {
  units: readonly AccessUnit[];
  /** Number of the newest key frame of the session. */
  newest: number;
  /** True if the session has dropped none since the position, and has received all. */
  isWhole: boolean;
  /** Groups since the position, that of the position included, whose key frames are far from the next one. */
  groups: readonly NumberedGroup[];
};

/** Memory of a key frame beside its bytes. */
const overheadBytes = 512;
const maxAgeMs = rules.maxScanSeconds * 1000;
const learnMs = 75_000;
/** Time without a scan after which a session keeps none. */
const keepMs = 75_000;
/** Reserve of the time that scans need: a tick may be late. */
const reserve = { factor: 1.25, ms: 3_000 };

type FramesOfCaller = { size: number; frames: Set<StoredKeyFrame> };

/** Creates the memory of all sessions, divided by caller. */
export function createKeyFrameMemory(maxBytes: number) {
  const holders = new Map<string, FramesOfCaller>();
  let usedBytes = 0;
  return {
    /** Adds a key frame. Above the limit, the caller with the most loses its oldest. */
    add(frame: StoredKeyFrame): void {
      const holder = holders.get(frame.caller) ?? { size: 0, frames: new Set<StoredKeyFrame>() };
      holders.set(frame.caller, holder);
      holder.frames.add(frame);
      count(holder, countBytes([frame.unit]));
      makeRoom();
    },
    /** Adds the frames behind a key frame; those of the caller with the most only if they fit. */
    complete(frame: StoredKeyFrame, rest: readonly AccessUnit[]): void {
      const holder = holders.get(frame.caller);
      if (!holder?.frames.has(frame)) return;
      const bytes = countBytes(rest);
      if (usedBytes + bytes > maxBytes && findLargest(holders) === frame.caller) return;
      count(holder, bytes);
      frame.rest = rest;
      makeRoom();
    },
    delete: remove,
    bytes: () => usedBytes,
  };

  function count(holder: FramesOfCaller, bytes: number): void {
    holder.size += bytes;
    usedBytes += bytes;
  }

  function remove(frame: StoredKeyFrame): void {
    const holder = holders.get(frame.caller);
    if (!holder?.frames.delete(frame)) return;
    count(holder, -countBytes([frame.unit, ...frame.rest]));
    if (holder.frames.size === 0) holders.delete(frame.caller);
  }

  /** Drops what the caller with the most has: the oldest frames between key frames, then the oldest key frames. */
  function makeRoom(): void {
    while (usedBytes > maxBytes) {
      const holder = holders.get(findLargest(holders) ?? '');
      if (holder === undefined) return;
      const frames = [...holder.frames];
      const [oldest] = [...frames.filter(({ rest }) => rest.length > 0), ...frames];
      if (oldest === undefined) return;
      if (oldest.rest.length > 0) {
        count(holder, -countBytes(oldest.rest));
        oldest.rest = [];
        continue;
      }
      remove(oldest);
      oldest.drop();
    }
  }
}

function countBytes(units: readonly AccessUnit[]): number {
  return units.reduce((sum, { bytes }) => sum + bytes.length + overheadBytes, 0);
}

/** Creates the store of key frames of one session, undecoded, for scans. It keeps none until the first scan. */
export function createKeyFrameStore(memory: KeyFrameMemory, elapsedMs: () => number, caller: string) {
  let frames: StoredKeyFrame[] = [];
  let newest = 0;
  /** Number of the newest key frame that was not kept, or was dropped. */
  let dropped = 0;
  let begunMs: number | undefined;
  let scannedMs = 0;
  let needs: { ageMs: number; atMs: number }[] = [];
  return { add, skip, begin, since, clear };

  /** Adds a key frame. `before` is the group that it ends. */
  function add(unit: AccessUnit, before: readonly AccessUnit[] = []): void {
    if (begunMs === undefined) return skip();
    complete(unit, before);
    newest += 1;
    if (unit.arrivedMs - scannedMs > keepMs) return end();
    const last = frames.at(-1);
    if (last && Math.abs(unit.arrivedMs - last.unit.arrivedMs) < minDistanceSeconds * 1000) return;
    keep(unit);
    const ageMs = neededMs();
    for (const old of frames.slice(0, -1)) {
      if (unit.arrivedMs - old.unit.arrivedMs <= ageMs) break;
      memory.delete(old);
      forget(old);
    }
  }

  /** Counts a place that a scan leaves out: a refresh has no key frame. */
  function skip(): void {
    newest += 1;
    dropped = newest;
  }

  function complete(next: AccessUnit, [keyFrame, ...rest]: readonly AccessUnit[]): void {
    const last = frames.at(-1);
    const isSparse = keyFrame !== undefined && next.arrivedMs - keyFrame.arrivedMs > sparseSeconds * 1000;
    if (last && isSparse && last.unit === keyFrame) memory.complete(last, rest);
  }

  function keep(unit: AccessUnit): void {
    const frame: StoredKeyFrame = { caller, number: newest, unit, rest: [], drop: () => forget(frame) };
    frames.push(frame);
    memory.add(frame);
  }

  /** Keeps key frames from the newest one on, as long as scans need them. */
  function begin(keyFrame: AccessUnit | undefined): void {
    scannedMs = elapsedMs();
    if (begunMs === undefined && keyFrame) keep(keyFrame);
    begunMs ??= scannedMs;
  }

  /** Returns the age that the scans of the last minute needed. */
  function neededMs(): number {
    needs = needs.filter(({ atMs }) => elapsedMs() - atMs <= keepMs);
    const isLearning = elapsedMs() - (begunMs ?? 0) <= learnMs;
    return isLearning ? maxAgeMs : Math.min(maxAgeMs, Math.max(0, ...needs.map(({ ageMs }) => ageMs)));
  }

  /** Returns the key frames after a number; all of them with `null`. */
  function since(number: number | null): KeyFramesSince {
    const newer = frames.filter((frame) => frame.number > (number ?? 0));
    const base = frames.find((frame) => frame.number === number && frame.rest.length > 0);
    const oldest = base ?? newer[0];
    if (number !== null && oldest) {
      const atMs = elapsedMs();
      needs.push({ ageMs: (atMs - oldest.unit.arrivedMs) * reserve.factor + reserve.ms, atMs });
    }
    return {
      units: newer.map(({ unit }) => unit),
      newest,
      isWhole: number !== null && number >= dropped && number <= newest,
      groups: [...(base ? [base] : []), ...newer]
        .filter(({ rest }) => rest.length > 0)
        .map((frame) => ({ number: frame.number, units: [frame.unit, ...frame.rest] })),
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
