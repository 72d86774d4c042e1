import type { Admission, CallLimiter } from '../../core/ports/call-limiter.ts';

export type CallLimits = {
  /** Maximum calls per caller in any 60 s; 0 disables the limit. */
  perMinute: number;
  /** Maximum concurrent calls per caller; 0 disables the limit. */
  atOnce: number;
};

/** Start times of the calls of the last minute, oldest first (epoch ms), and the number of calls in flight. */
type Use = { beganMs: number[]; underWay: number };

const windowMs = 60_000;
/** A check takes about this long. */
const retryAtOnceSeconds = 2;

/**
 * Creates a limiter in memory; its counts end with the process. It uses a sliding window: a token bucket admits twice its size in
 * its first minute.
 */
export function createCallLimiter({ perMinute, atOnce, now }: CallLimits & { now: () => Date }): CallLimiter {
  const uses = new Map<string, Use>();
  return { admit: async (caller) => admit(caller, now().getTime()) };

  function admit(caller: string, nowMs: number): Admission {
    forgetIdle(nowMs);
    const use = uses.get(caller) ?? { beganMs: [], underWay: 0 };
    const refused = findRefusal(use, nowMs);
    if (refused !== undefined) return refused;
    uses.set(caller, use);
    if (perMinute > 0) use.beganMs.push(nowMs);
    use.underWay += 1;
    return { kind: 'admitted', release: releaseOnce(use) };
  }

  function findRefusal(use: Use, nowMs: number): Admission | undefined {
    if (atOnce > 0 && use.underWay >= atOnce) {
      return { kind: 'refused', limit: 'concurrency', max: atOnce, retryAfterSeconds: retryAtOnceSeconds };
    }
    const oldest = use.beganMs[0];
    if (oldest === undefined || use.beganMs.length < perMinute) return undefined;
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + windowMs - nowMs) / 1000));
    return { kind: 'refused', limit: 'per minute', max: perMinute, retryAfterSeconds };
  }

  /** Drops start times in the future too: a clock that was set back must not lock a caller out. */
  function forgetIdle(nowMs: number): void {
    for (const [caller, use] of uses) {
      use.beganMs = use.beganMs.filter((began) => began > nowMs - windowMs && began <= nowMs);
      if (use.beganMs.length === 0 && use.underWay === 0) uses.delete(caller);
    }
  }
}

function releaseOnce(use: Use): () => Promise<void> {
  let released = false;
  return async () => {
    if (!released) use.underWay -= 1;
    released = true;
  };
}
