import type { CallerUse } from '../records/caller-use.ts';

/** Use of a caller on a day (UTC, `YYYY-MM-DD`). */
export type DayOfUse = { day: string; use: CallerUse };

/** Storage of the use of callers, by day. Each method may throw `TransientError`. */
export interface UsageLedger {
  /**
   * Adds to the use of a caller on a day. Not repeatable. A caller that is not stored, because it was erased meanwhile,
   * has no use.
   */
  add(caller: string, day: string, use: CallerUse): Promise<void>;
  /** Returns the days with use from `from` to `to`, both included, in order. */
  days(caller: string, from: string, to: string): Promise<DayOfUse[]>;
}

/** Retention of a day, in days. */
export const useRetentionDays = 400;
