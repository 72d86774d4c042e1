import { EgressTimeoutError } from './errors.ts';

/** Timeout of several steps, which a caller's signal can abort earlier. */
export type Deadline = ReturnType<typeof openDeadline>;

/** Starts a deadline. `close` must be called to stop its timer. */
export function openDeadline(timeoutMs: number, callerSignal?: AbortSignal) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new EgressTimeoutError('No response in time')), timeoutMs);
  const abort = (): void => controller.abort(callerSignal?.reason);
  callerSignal?.addEventListener('abort', abort, { once: true });
  if (callerSignal?.aborted === true) abort();
  return {
    signal: controller.signal,
    /** Throws `EgressTimeoutError` after the timeout, or the reason of an aborted caller's signal. */
    throwIfOver: () => controller.signal.throwIfAborted(),
    close: (): void => {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
    },
  };
}
