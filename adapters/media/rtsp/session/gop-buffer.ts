import type { AccessUnit } from '../rtp/access-unit-assembler.ts';
import { rtpDifference } from '../rtp/rtp-packet.ts';

/** Newest GOPs of a stream, undecoded and in bounded memory. With intra refresh, each refresh is one. */
export type GopBuffer = ReturnType<typeof createGopBuffer>;

/** Group of pictures of a session, in decoding order, with its number and the arrival of the next one. */
export type EndedGroup = {
  units: readonly AccessUnit[];
  sessionId: string;
  number: number;
  endedMs: number;
  /** Time for which a clip may need it, in seconds. */
  keepSeconds: number;
};

/** Memory of an access unit beside its bytes: a server may send millions of tiny ones. */
const overheadBytes = 512;
/** A greater step between two access units is another clock: the encoder has restarted. */
const maxStepSeconds = 10;

type Gop = {
  units: AccessUnit[];
  bytes: number;
  /** Reference frames until a picture is whole. */
  recoveryFrames: number;
  /** Timestamp of the first whole picture. */
  wholeAt: number | undefined;
};

/** Creates a buffer. Above `maxBytes` it drops the oldest GOP, or the only one. */
export function createGopBuffer({ clockRate, maxBytes }: { clockRate: number; maxBytes: number }) {
  let gops: Gop[] = [];
  let bytes = 0;
  let keptSeconds = 0;
  /** Timestamps of the first access unit, the newest key frame and the newest unit. */
  let begin: number | undefined;
  let keyFrame: number | undefined;
  let newest = 0;
  let beforeFirst = 0;
  let distance: number | undefined;
  let distanceMs = 0;
  return {
    add,
    /** Sets the duration that is kept, in seconds. With 0, the newest GOP is. */
    keep: (seconds: number): void => void (keptSeconds = seconds),
    /**
     * Returns the units from the newest key frame on, in decoding order, or from the newest refresh that is over;
     * empty before.
     */
    newestGop: (): readonly AccessUnit[] => lastSeconds(0) ?? [],
    lastSeconds,
    /** Shortest distance of two key frames so far, in seconds; undefined before the second one. */
    keyFrameDistance: () => distance,
    /** Longest time without a key frame, in seconds: before the first one, or since the newest one. */
    secondsWithoutKeyFrame: () => Math.max(beforeFirst, secondsSince(keyFrame ?? begin)),
    /** Distance of the newest two frames, in milliseconds; 0 before the second one. */
    newestDistanceMs: () => distanceMs,
    bytes: () => bytes,
    clear,
  };

  /**
   * Returns the GOPs that hold the newest `seconds` in whole pictures, in decoding order; null if they do not reach
   * back as far.
   */
  function lastSeconds(seconds: number): AccessUnit[] | null {
    const start = gops.findLastIndex((gop) => reachesBack(gop, seconds));
    return start < 0 ? null : gops.slice(start).flatMap(({ units }) => units);
  }

  /** Unlike the GOPs, the distances survive a loss of memory. */
  function measure(unit: AccessUnit): void {
    const { timestamp } = unit;
    newest = timestamp;
    begin ??= timestamp;
    if (!beginsGop(unit)) return;
    const seconds = secondsSince(keyFrame ?? begin);
    if (keyFrame === undefined) beforeFirst = seconds;
    else if (seconds > 0) distance = Math.min(seconds, distance ?? Infinity);
    keyFrame = timestamp;
  }

  function secondsSince(timestamp: number | undefined): number {
    return timestamp === undefined ? 0 : rtpDifference(timestamp, newest) / clockRate;
  }

  /** Adds an access unit. Units before the first key frame are dropped. */
  function add(unit: AccessUnit): void {
    const before = gops.at(-1)?.units.at(-1);
    const step = before === undefined ? 0 : rtpDifference(before.timestamp, unit.timestamp) / clockRate;
    if (Math.abs(step) > maxStepSeconds) {
      clear();
      [begin, keyFrame] = [undefined, undefined];
    }
    distanceMs = Math.abs(step) > maxStepSeconds ? 0 : step * 1000;
    measure(unit);
    const size = gops.at(-1)?.units[0]?.codedSize;
    // A clip of several resolutions would have the size of the first one.
    if (size && unit.codedSize && size !== unit.codedSize) clear();
    for (const gop of gops) countRecovery(gop, unit);
    if (beginsGop(unit)) {
      const { timestamp, recoveryFrames = 0 } = unit;
      const wholeAt = recoveryFrames === 0 ? timestamp : undefined;
      gops.push({ units: [], bytes: 0, recoveryFrames, wholeAt });
    }
    const gop = gops.at(-1);
    if (gop === undefined) return;
    const addedBytes = unit.bytes.length + overheadBytes;
    gop.units.push(unit);
    gop.bytes += addedBytes;
    bytes += addedBytes;
    while (gops[1] !== undefined && reachesBack(gops[1], keptSeconds)) dropOldest();
    while (bytes > maxBytes) dropOldest();
  }

  function reachesBack({ wholeAt }: Gop, seconds: number): boolean {
    const last = gops.at(-1)?.units.at(-1);
    if (wholeAt === undefined || last === undefined) return false;
    return rtpDifference(wholeAt, last.timestamp) >= seconds * clockRate;
  }

  function dropOldest(): void {
    bytes -= gops.shift()?.bytes ?? bytes;
  }

  function clear(): void {
    gops = [];
    bytes = 0;
  }
}

function beginsGop({ isKeyFrame, recoveryFrames }: AccessUnit): boolean {
  return isKeyFrame || recoveryFrames !== undefined;
}

function countRecovery(gop: Gop, { timestamp, isReference = true }: AccessUnit): void {
  if (gop.wholeAt !== undefined || !isReference) return;
  gop.recoveryFrames -= 1;
  if (gop.recoveryFrames === 0) gop.wholeAt = timestamp;
}
