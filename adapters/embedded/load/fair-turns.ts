import type { StreamTurn, StreamTurns } from '../../../core/ports/stream-capturer.ts';
import { isBehindChecks } from '../../../core/ports/callers.ts';
import type { SetTimer } from '../../../core/time-limit.ts';
import { createFairQueue, type ReportUse } from '../../fair-queue.ts';

export type FairTurnsDeps = {
  /** Maximum concurrent turns of all callers. */
  max: number;
  /** Maximum concurrent turns of one caller, so that its hanging streams leave turns to others. Default: `max`. */
  maxPerCaller?: number;
  /** Turns beyond `max` for callers that have none: they wait for no turn of a caller that has all. Default: 0. */
  reserved?: number;
  /** Default: no limit. */
  maxWaitMs?: number;
  /**
   * Maximum requests that wait, of all callers. Beyond, the newest of the caller with the most gets no turn. Default:
   * no limit.
   */
  maxWaiting?: number;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  setTimer: SetTimer;
  reportUse?: ReportUse | undefined;
};

type Request = { begin(): void; giveUp(): void };

/** Creates turns in memory, divided by `FairQueue`. */
export function createFairTurns(deps: FairTurnsDeps): StreamTurns {
  const {
    max,
    maxPerCaller = max,
    reserved = 0,
    maxWaitMs,
    maxWaiting,
    elapsedMs,
    setTimer,
    reportUse,
  } = deps;
  const queue = createFairQueue<Request>({ elapsedMs, maxWaiting, reportUse });
  return {
    take: (caller, signal) =>
      new Promise((resolve, reject) => {
        let cancelTimer: (() => void) | undefined;
        let isSettled = false;
        const settled = (settle: () => void) => (): void => {
          isSettled = true;
          cancelTimer?.();
          signal?.removeEventListener('abort', abort);
          settle();
        };
        const request = {
          begin: settled(() => resolve(startTurn(caller))),
          giveUp: settled(() => resolve(undefined)),
        };
        const fail = settled(() => reject(signal?.reason));
        const abort = (): void => (queue.remove(caller, request) ? fail() : undefined);
        const expire = (): void => (queue.remove(caller, request) ? request.giveUp() : undefined);
        queue.add(caller, request)?.giveUp();
        grant();
        if (isSettled) return;
        if (maxWaitMs !== undefined) cancelTimer = setTimer(expire, maxWaitMs);
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };

  function grant(): void {
    for (;;) {
      const next = queue.take(mayBegin);
      if (next === undefined) return;
      next.item.begin();
    }
  }

  function mayBegin(caller: string): boolean {
    const held = queue.inUse(caller);
    const isFirst = held === 0 && !isBehindChecks(caller);
    return held < maxPerCaller && queue.inUse() < (isFirst ? max + reserved : max);
  }

  function startTurn(caller: string): StreamTurn {
    const stop = queue.begin(caller);
    return {
      end: () => {
        stop();
        grant();
      },
    };
  }
}
