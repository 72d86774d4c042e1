/** Delay of checks by this host, as `/metrics` shows it. */
export type PaceReading = {
  /** Mean time for which checks waited for this host lately, in seconds. */
  lateSeconds: number;
  /** Largest factor of intervals, 1 without overload. */
  stretch: number;
  /** Checks since the start whose interval was stretched. */
  lateChecks: number;
  /** Time since the start for which the event loop was blocked and the service answered nobody, in seconds. */
  blockedSeconds: number;
  /**
   * RTSP streams since the start whose session could not be used, so that their captures wait for a connection each.
   */
  sessionFallbacks: number;
};

/**
 * Pace of the checks of all jobs and watches on a host with a fixed capacity. In an overload the intervals of callers
 * with more than their share are stretched, those of one caller by one factor, so that no job is starved.
 */
export interface Pace {
  /** Returns the factor for the next interval of a job or watch, 1 or more. Called once per check. */
  stretch(run: { run_id: string; caller: string }, intervalSeconds: number): number;
  /**
   * Returns the time after which a new job of a caller can be accepted again, in seconds; undefined if its intervals
   * are not stretched.
   */
  retryAfterSeconds(caller: string): number | undefined;
  read(): PaceReading;
}

/** Pace of a host whose capacity grows with the jobs. */
export const freePace: Pace = {
  stretch: () => 1,
  retryAfterSeconds: () => undefined,
  read: () => ({ lateSeconds: 0, stretch: 1, lateChecks: 0, blockedSeconds: 0, sessionFallbacks: 0 }),
};
