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
  return {
    add,
    keep: (seconds) => void (keptSeconds = seconds),
    newestGop: () => gops.at(-1)?.units ?? [],
    lastSeconds(seconds) {
      const start = gops.findLastIndex((gop) => reachesBack(gop, seconds));
      return start < 0 ? null : gops.slice(start).flatMap(({ units }) => units);
    },
    bytes: () => bytes,
    clear,
  };

  function add(unit: AccessUnit): void {
    const before = gops.at(-1)?.units.at(-1);
    const step = before === undefined ? 0 : rtpDifference(before.timestamp, unit.timestamp) / clockRate;
    if (Math.abs(step) > maxStepSeconds) clear();
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
