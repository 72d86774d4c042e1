/** Signals of event logs that grow. */
export interface LogSignals {
  /** Starts watching a log, by the id of its job or watch. The caller ends it. */
  watch(logId: string): LogWatch;
}

/** One reader's view of a log. A change between two calls of `changed` is never missed. */
export type LogWatch = {
  /**
   * Resolves when the log has changed since the previous call, at the latest after the longest wait of the
   * implementation, and immediately if the signal aborts. Never rejects.
   */
  changed(signal: AbortSignal): Promise<void>;
  end(): void;
};

/** Signals that resolve after a fixed time: for logs that other processes write. `sleep` never rejects. */
export function pollingSignals(
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>,
  intervalMs: number,
): LogSignals {
  return {
    watch: () => ({ changed: async (signal) => sleep(intervalMs, signal), end: () => undefined }),
  };
}
