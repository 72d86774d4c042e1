/** The event streams that are open, counted by caller. */
export interface EventSessions {
  /** How many a caller may have open at once. */
  readonly perCaller: number;
  /** undefined: the caller has that many already. */
  open(caller: string): Promise<EventSession | undefined>;
}

export type EventSession = {
  /** Aborted once the session is over: its reader left, or the service shuts down. */
  signal: AbortSignal;
  /** Makes room for another; harmless when repeated. */
  end(): Promise<void>;
};
