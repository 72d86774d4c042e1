import type { CallLimiter } from '../../core/ports/call-limiter.ts';
import type { SetTimer } from '../timer.ts';

export type RefusalDelay = {
  delayMs: number;
  /** Refusals of one caller that wait at the same time; further ones are answered immediately. */
  maxDelayed: number;
  setTimer: SetTimer;
};

/**
 * Returns the limiter with refusals that take a while: a caller that ignores `Retry-After` slows itself down, and leaves the process to
 * others. Without it, one key in a loop has the event loop answer refusals only.
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
