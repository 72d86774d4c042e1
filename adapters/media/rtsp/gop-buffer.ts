import type { AccessUnit } from './access-unit-assembler.ts';
import { rtpDifference } from './rtp-packet.ts';

/** Newest GOPs of a stream, undecoded and in bounded memory. */
export type GopBuffer = {
  /** Adds an access unit. Units before the first key frame are dropped. */
  add(unit: AccessUnit): void;
  /** Sets the duration that is kept, in seconds. With 0, the newest GOP is. */
  keep(seconds: number): void;
  /** Returns the newest GOP, in decoding order; empty before the first key frame. */
  newestGop(): readonly AccessUnit[];
  /** Returns the GOPs that hold the newest `seconds`, in decoding order; null if they do not reach back as far. */
  lastSeconds(seconds: number): AccessUnit[] | null;
  /** Shortest distance of two key frames so far, in seconds; undefined before the second one. */
  keyFrameDistance(): number | undefined;
  /** Longest time without a key frame, in seconds: before the first one, or since the newest one. */
  secondsWithoutKeyFrame(): number;
  /** Distance of the newest two frames, in milliseconds; 0 before the second one. */
  newestDistanceMs(): number;
  bytes(): number;
  clear(): void;
};

/** Memory of an access unit beside its bytes: a server may send millions of tiny ones. */
const overheadBytes = 512;
/** A greater step between two access units is another clock: the encoder has restarted. */
const maxStepSeconds = 10;

type Gop = { units: AccessUnit[]; bytes: number };

/** Creates a buffer. Above `maxBytes` it drops the oldest GOP, or the only one. */
export function createGopBuffer({ clockRate, maxBytes }: { clockRate: number; maxBytes: number }): GopBuffer {
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
    keep: (seconds) => void (keptSeconds = seconds),
    newestGop: () => gops.at(-1)?.units ?? [],
    lastSeconds(seconds) {
      const start = gops.findLastIndex((gop) => reachesBack(gop, seconds));
      return start < 0 ? null : gops.slice(start).flatMap(({ units }) => units);
    },
    keyFrameDistance: () => distance,
    secondsWithoutKeyFrame: () => Math.max(beforeFirst, secondsSince(keyFrame ?? begin)),
    newestDistanceMs: () => distanceMs,
    bytes: () => bytes,
    clear,
  };

  /** Unlike the GOPs, the distances survive a loss of memory. */
  function measure({ timestamp, isKeyFrame }: AccessUnit): void {
    newest = timestamp;
    begin ??= timestamp;
    if (!isKeyFrame) return;
    const seconds = secondsSince(keyFrame ?? begin);
    if (keyFrame === undefined) beforeFirst = seconds;
    else if (seconds > 0) distance = Math.min(seconds, distance ?? Infinity);
    keyFrame = timestamp;
  }

  function secondsSince(timestamp: number | undefined): number {
    return timestamp === undefined ? 0 : rtpDifference(timestamp, newest) / clockRate;
  }

  function add(unit: AccessUnit): void {
    const before = gops.at(-1)?.units.at(-1);
    const step = before === undefined ? 0 : rtpDifference(before.timestamp, unit.timestamp) / clockRate;
    if (Math.abs(step) > maxStepSeconds) {
      clear();
      [begin, keyFrame] = [undefined, undefined];
    }
    distanceMs = Math.abs(step) > maxStepSeconds ? 0 : step * 1000;
    measure(unit);
    if (unit.isKeyFrame) gops.push({ units: [], bytes: 0 });
    const gop = gops.at(-1);
    if (gop === undefined) return;
    const addedBytes = unit.bytes.length + overheadBytes;
    gop.units.push(unit);
    gop.bytes += addedBytes;
    bytes += addedBytes;
    while (gops[1] !== undefined && reachesBack(gops[1], keptSeconds)) dropOldest();
    while (bytes > maxBytes) dropOldest();
  }

  function reachesBack({ units: [first] }: Gop, seconds: number): boolean {
    const newest = gops.at(-1)?.units.at(-1);
    if (first === undefined || newest === undefined) return false;
    return rtpDifference(first.timestamp, newest.timestamp) >= seconds * clockRate;
  }

  function dropOldest(): void {
    bytes -= gops.shift()?.bytes ?? bytes;
  }

  function clear(): void {
    gops = [];
    bytes = 0;
  }
}
