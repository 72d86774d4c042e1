import type { Admission, CallLimiter } from '../../core/ports/call-limiter.ts';

export type CallLimits = {
  /** In any 60 s, a caller; 0 is no limit. */
  perMinute: number;
  /** Under way at the same time, a caller; 0 is no limit. */
  atOnce: number;
};

/** When the calls of the last minute began, oldest first, and how many are not answered yet. */
type Use = { beganMs: number[]; underWay: number };

const windowMs = 60_000;
/** A check takes about as long. */
const retryAtOnceSeconds = 2;

/**
 * Limits in memory, gone with the process. A sliding window rather than a bucket: a bucket that refills lets twice its size through
 * in its first minute.
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
      return { kind: 'refused', limit: 'concurrent', max: atOnce, retryAfterSeconds: retryAtOnceSeconds };
    }
    const oldest = use.beganMs[0];
    if (oldest === undefined || use.beganMs.length < perMinute) return undefined;
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + windowMs - nowMs) / 1000));
    return { kind: 'refused', limit: 'per minute', max: perMinute, retryAfterSeconds };
  }

  /** A clock that was set back must not keep a caller out: what lies in the future is forgotten too. */
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
