/** Open event streams, counted per caller. */
export interface EventSessions {
  /** Maximum sessions of a caller. */
  readonly perCaller: number;
  /** Returns undefined at the limit. On Lambda a reconnecting reader evicts its job's oldest session. */
  open(caller: string, reader?: EventStreamReader): Promise<EventSession | undefined>;
}

export type EventStreamReader = {
  jobId: string;
  /** True if the reader resumes after an event. Its previous session may still be open. */
  isReconnect: boolean;
};

export type EventSession = {
  /** Aborts at the end of the session: the reader disconnected, another one evicted it, or the service shuts down. */
  signal: AbortSignal;
  /** Sets the job of a session that was opened before its job existed. */
  attachJob(jobId: string): void;
  /** Ends the session and returns its permit. Repeatable. */
  end(): Promise<void>;
};

export interface LogSignals {
  /** Starts watching a log, by the id of its job or watch. The caller ends it. */
  watch(logId: string): LogWatch;
}

/** One reader's view of a log. A change between two calls of `changed` is never missed. */
type LogWatch = {
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
