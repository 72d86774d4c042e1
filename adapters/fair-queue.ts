import { isBehindChecks } from '../core/ports/callers.ts';

/**
 * Queue of a resource that callers share fairly: next is the caller that has used the resource least of late, then the
 * order of arrival. Cost is the time of use, so that ten slow calls of one caller delay the quick calls of another by
 * one of them at most. Searches wait for all checks.
 */
export type FairQueue<Item> = {
  /**
   * Adds an item. Returns the one that has no place: the newest of the caller with the most, which may be the new one.
   */
  add(caller: string, item: Item): Item | undefined;
  remove(caller: string, item: Item): boolean;
  /** Returns an item that waits. */
  peek(): Item | undefined;
  /** Takes the next item of the callers that may use the resource now. */
  take(mayBegin?: (caller: string) => boolean): { caller: string; item: Item } | undefined;
  /** Counts the use of a caller until the returned function is called. */
  begin(caller: string): () => void;
  inUse(caller?: string): number;
  takeAll(): Item[];
};

/** Called with the time for which a request of a caller waited for a resource, also if it did not get it. */
export type ReportWait = (waitedMs: number, caller: string) => void;

/** Called with the time for which a caller had a resource, at its end. */
export type ReportUse = (caller: string, usedMs: number) => void;

/** Time after which a use counts for a third, in milliseconds. */
const memoryMs = 30_000;

/** Use up to `atMs`, with the uses under way. */
type Use = { ms: number; atMs: number; underWay: number };

/** Place of a caller among those that wait. */
type Place = { isLast: boolean; usedMs: number };

function isBefore(one: Place, other: Place): boolean {
  return one.isLast === other.isLast ? one.usedMs < other.usedMs : other.isLast;
}

export function createFairQueue<Item>({
  elapsedMs,
  maxWaiting = Infinity,
  reportUse = () => undefined,
}: {
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  /** Maximum items that wait, of all callers. */
  maxWaiting?: number | undefined;
  reportUse?: ReportUse | undefined;
}): FairQueue<Item> {
  /** Items that wait. The caller that was served last is the last one. */
  const waiting = new Map<string, Set<Item>>();
  const uses = new Map<string, Use>();
  return {
    add(caller, item) {
      waiting.set(caller, (waiting.get(caller) ?? new Set()).add(item));
      if (count() <= maxWaiting) return undefined;
      const [largest] = [...waiting].toSorted(([, one], [, other]) => other.size - one.size);
      const newest = [...(largest?.[1] ?? [])].at(-1);
      if (largest !== undefined && newest !== undefined) remove(largest[0], newest);
      return newest;
    },
    remove,
    peek: () => {
      const [items] = waiting.values();
      const [item] = items ?? [];
      return item;
    },
    take(mayBegin = () => true) {
      let next: { caller: string; isLast: boolean; usedMs: number } | undefined;
      for (const caller of waiting.keys()) {
        if (!mayBegin(caller)) continue;
        const candidate = { caller, isLast: isBehindChecks(caller), usedMs: readUse(caller).ms };
        if (next === undefined || isBefore(candidate, next)) next = candidate;
      }
      const [item] = (next && waiting.get(next.caller)) ?? [];
      if (next === undefined || item === undefined) return undefined;
      const { caller } = next;
      remove(caller, item);
      moveToEnd(caller);
      return { caller, item };
    },
    begin(caller) {
      forgetUnused();
      const use = readUse(caller);
      uses.set(caller, { ...use, underWay: use.underWay + 1 });
      let hasEnded = false;
      return () => {
        if (hasEnded) return;
        hasEnded = true;
        reportUse(caller, elapsedMs() - use.atMs);
        const before = readUse(caller);
        uses.set(caller, { ...before, underWay: before.underWay - 1 });
      };
    },
    inUse: (caller) =>
      caller === undefined
        ? [...uses.values()].reduce((sum, { underWay }) => sum + underWay, 0)
        : (uses.get(caller)?.underWay ?? 0),
    takeAll() {
      const items = [...waiting.values()].flatMap((each) => [...each]);
      waiting.clear();
      return items;
    },
  };

  function remove(caller: string, item: Item): boolean {
    const items = waiting.get(caller);
    const isRemoved = items?.delete(item) ?? false;
    if (items?.size === 0) waiting.delete(caller);
    return isRemoved;
  }

  function moveToEnd(caller: string): void {
    const items = waiting.get(caller);
    if (items === undefined) return;
    waiting.delete(caller);
    waiting.set(caller, items);
  }

  function count(): number {
    return [...waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  function readUse(caller: string): Use {
    const nowMs = elapsedMs();
    const { ms, atMs, underWay } = uses.get(caller) ?? { ms: 0, atMs: nowMs, underWay: 0 };
    const passedMs = nowMs - atMs;
    return { ms: ms * Math.exp(-passedMs / memoryMs) + underWay * passedMs, atMs: nowMs, underWay };
  }

  function forgetUnused(): void {
    for (const [caller, { underWay }] of uses)
      if (underWay === 0 && readUse(caller).ms < 1) uses.delete(caller);
  }
}
