import { openDeadline } from '../../../egress/deadline.ts';

/** Bytes and time that a scan and its pictures may take together. */
export type ScanBudget = {
  /** Reserves bytes for one request; 0 if none are left. The request returns what it did not take. */
  reserve(): { maxBytes: number; release(usedBytes: number): void };
  /**
   * Runs work that ends at the latest when its share of the time is used up, by default all. Throws
   * `EgressTimeoutError` then.
   */
  within<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
    share?: number,
  ): Promise<Result>;
  leftMs(): number;
};

export const scanRequests = 2;

/** Creates the budget of one scan. Concurrent work counts once for each. */
export function createScanBudget(limits: {
  bytes: number;
  milliseconds: number;
  elapsedMs: () => number;
}): ScanBudget {
  let { bytes: leftBytes, milliseconds: leftMs } = limits;
  return {
    reserve() {
      const maxBytes = Math.floor(leftBytes / scanRequests);
      leftBytes -= maxBytes;
      return { maxBytes, release: (usedBytes) => void (leftBytes += Math.max(0, maxBytes - usedBytes)) };
    },
    async within(work, signal, share = 1) {
      const beganMs = limits.elapsedMs();
      const deadline = openDeadline(Math.max(0, leftMs * share), signal);
      try {
        deadline.throwIfOver();
        return await work(deadline.signal);
      } finally {
        deadline.close();
        leftMs -= limits.elapsedMs() - beganMs;
      }
    },
    leftMs: () => leftMs,
  };
}
