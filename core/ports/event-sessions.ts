/** The event streams that are open, counted by caller. */
export interface EventSessions {
  /** How many a caller may have open at once. */
  readonly perCaller: number;
  /**
   * undefined: the caller has that many already. Where a reader that leaves is not noticed, one that comes back takes the place of the oldest
   * stream of its job then, which ends.
   */
  open(caller: string, reader?: EventStreamReader): Promise<EventSession | undefined>;
}

export type EventStreamReader = {
  jobId: string;
  /** It has read events of the job before: perhaps by a stream that is still open and that nobody reads. */
  isReconnect: boolean;
};

export type EventSession = {
  /** Aborted once the session is over: its reader left, another took its place, or the service shuts down. */
  signal: AbortSignal;
  /** Says which job is read, where it was not there yet when the session was opened. */
  attachJob(jobId: string): void;
  /** Makes room for another; harmless when repeated. */
  end(): Promise<void>;
};
