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
