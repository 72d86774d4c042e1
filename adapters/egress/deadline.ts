import { EgressTimeoutError } from './errors.ts';

/** One time limit over many steps, which a caller's signal ends earlier. */
export type Deadline = {
  signal: AbortSignal;
  /** Throws `EgressTimeoutError` when the time is over, the reason of the caller's signal when it was aborted. */
  throwIfOver(): void;
  close(): void;
};

export function openDeadline(timeoutMs: number, callerSignal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new EgressTimeoutError('No answer in time')), timeoutMs);
  const abort = (): void => controller.abort(callerSignal?.reason);
  callerSignal?.addEventListener('abort', abort, { once: true });
  if (callerSignal?.aborted === true) abort();
  return {
    signal: controller.signal,
    throwIfOver: () => controller.signal.throwIfAborted(),
    close: () => {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
    },
  };
}
