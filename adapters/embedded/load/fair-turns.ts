import type { StreamTurn, StreamTurns } from '../../../core/ports/stream-turns.ts';
import type { SetTimer } from '../../../core/time-limit.ts';

export type FairTurnsDeps = {
  /** Maximum concurrent turns of all callers. */
  max: number;
  /** Maximum concurrent turns of one caller, so that its hanging streams leave turns to others. */
  maxPerCaller: number;
  maxWaitMs: number;
  setTimer: SetTimer;
};

/** Creates turns in memory: first come, first served within a caller, round-robin between callers that wait. */
export function createFairTurns({ max, maxPerCaller, maxWaitMs, setTimer }: FairTurnsDeps): StreamTurns {
  /** Waiting callers in the order of their next turn. */
  const waiting = new Map<string, Set<() => void>>();
  const held = new Map<string, number>();
  let total = 0;
  return {
    take: (caller) =>
      new Promise((resolve) => {
        const queue = waiting.get(caller) ?? new Set();
        const cancelTimer = setTimer(() => {
          leave(caller, begin);
          resolve(undefined);
        }, maxWaitMs);
        waiting.set(caller, queue.add(begin));
        grant();

        function begin(): void {
          cancelTimer();
          resolve(startTurn(caller));
        }
      }),
  };

  function grant(): void {
    for (const [caller, [begin]] of waiting) {
      if (total >= max) return;
      if (begin === undefined || heldBy(caller) >= maxPerCaller) continue;
      leave(caller, begin);
      begin();
    }
  }

  /** Removes one waiting request. If the caller has others, the caller moves to the end of the order. */
  function leave(caller: string, begin: () => void): void {
    const queue = waiting.get(caller);
    queue?.delete(begin);
    waiting.delete(caller);
    if (queue !== undefined && queue.size > 0) waiting.set(caller, queue);
  }

  function startTurn(caller: string): StreamTurn {
    total += 1;
    held.set(caller, heldBy(caller) + 1);
    let ended = false;
    return {
      end: () => {
        if (ended) return;
        ended = true;
        total -= 1;
        const left = heldBy(caller) - 1;
        if (left === 0) held.delete(caller);
        else held.set(caller, left);
        grant();
      },
    };
  }

  function heldBy(caller: string): number {
    return held.get(caller) ?? 0;
  }
}
