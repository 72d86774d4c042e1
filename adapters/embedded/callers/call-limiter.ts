import { callWindowMs, findRefusal } from '../../../core/access/call-admission.ts';
import type { CallLimits, CallUse } from '../../../core/access/call-admission.ts';
import type { Admission, CallLimiter } from '../../../core/ports/callers.ts';

/** Creates a limiter in the memory of this process. */
export function createCallLimiter({ perMinute, atOnce, now }: CallLimits & { now: () => Date }): CallLimiter {
  const uses = new Map<string, CallUse>();
  return { admit: async (caller) => admit(caller, now().getTime()) };

  function admit(caller: string, nowMs: number): Admission {
    forgetIdle(nowMs);
    const use = uses.get(caller) ?? { beganMs: [], running: 0 };
    const refused = findRefusal(use, { perMinute, atOnce }, nowMs);
    if (refused !== undefined) return refused;
    uses.set(caller, use);
    if (perMinute > 0) use.beganMs.push(nowMs);
    use.running += 1;
    return { kind: 'admitted', release: releaseOnce(use) };
  }

  /** Drops calls that left the window, and calls in the future: a clock that was set back must not block a caller. */
  function forgetIdle(nowMs: number): void {
    for (const [caller, use] of uses) {
      use.beganMs = use.beganMs.filter((began) => began > nowMs - callWindowMs && began <= nowMs);
      if (use.beganMs.length === 0 && use.running === 0) uses.delete(caller);
    }
  }
}

function releaseOnce(use: CallUse): () => Promise<void> {
  let released = false;
  return async () => {
    if (!released) use.running -= 1;
    released = true;
  };
}
