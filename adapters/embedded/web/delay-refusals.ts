import type { CallLimiter } from '../../../core/ports/callers.ts';
import type { SetTimer } from '../../../core/time-limit.ts';

export type RefusalDelay = {
  delayMs: number;
  /** Maximum delayed refusals of one caller; further ones are returned immediately. */
  maxDelayed: number;
  setTimer: SetTimer;
};

/**
 * Returns a limiter that delays its refusals: a caller that ignores `Retry-After` slows only itself down. Without the
 * delay, one key in a loop keeps the event loop busy with refusals.
 */
export function delayRefusals(
  limiter: CallLimiter,
  { delayMs, maxDelayed, setTimer }: RefusalDelay,
): CallLimiter {
  const delayed = new Map<string, number>();
  return {
    admit: async (caller) => {
      const admission = await limiter.admit(caller);
      if (admission.kind === 'refused') await delay(caller);
      return admission;
    },
  };

  async function delay(caller: string): Promise<void> {
    const waiting = delayed.get(caller) ?? 0;
    if (waiting >= maxDelayed) return;
    delayed.set(caller, waiting + 1);
    await new Promise<void>((resolve) => setTimer(resolve, delayMs));
    const left = (delayed.get(caller) ?? 1) - 1;
    if (left === 0) delayed.delete(caller);
    else delayed.set(caller, left);
  }
}
