/** Every limit on the time of a wait: by a signal, or by a timer that tests hand in. */

/** Creates a signal that aborts after `seconds`, or earlier with `signal`. */
export function createTimeLimit(seconds: number, signal?: AbortSignal): AbortSignal {
  // 8.079 s are 8079.000000000001 ms, which it refuses.
  const timeout = AbortSignal.timeout(Math.round(seconds * 1000));
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/**
 * Waits for `work` until `signal` aborts, and throws its reason then. For work that may ignore the signal: it runs to
 * its end unobserved.
 */
export async function waitUntilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

/**
 * Waits for `work` at most until a timer fires, and settles as `expire` does then. The work runs to its end unobserved.
 */
export async function waitAtMost<Result>(
  milliseconds: number,
  work: Promise<Result>,
  expire: () => Result,
  setTimer: SetTimer = setSystemTimer,
): Promise<Result> {
  const expired = Promise.withResolvers<Result>();
  const cancel = setTimer(() => expired.resolve((async () => expire())()), milliseconds);
  return Promise.race([work, expired.promise]).finally(cancel);
}

/** Waits for a time. Throws the abort reason. */
export async function wait(milliseconds: number, setTimer: SetTimer, signal: AbortSignal): Promise<void> {
  const waited = Promise.withResolvers<void>();
  const cancel = setTimer(waited.resolve, milliseconds);
  await waitUntilAborted(waited.promise, signal).finally(cancel);
}

/** Calls `fire` once after `delayMs`. Returns a function that cancels the timer. */
export type SetTimer = (fire: () => void, delayMs: number) => () => void;

export const setSystemTimer: SetTimer = (fire, delayMs) => {
  const timer = setTimeout(fire, delayMs);
  return () => clearTimeout(timer);
};
