import type { CallerUse } from '../records/caller-use.ts';
import type { ModelCall, TokenUse } from '../records/vision.ts';

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

export const useRetentionDays = 400;

/** Use of the model by callers. Counting never throws: a lost count must not fail a check. */
export interface CallerUsage extends Pick<UsageLedger, 'days'> {
  /** Runs a model call and counts it, also if it fails. Throws the errors of the call. */
  charge<Result extends { tokens: TokenUse; calls?: readonly ModelCall[] | undefined }>(
    caller: string,
    call: () => Promise<Result>,
  ): Promise<Result>;
  record(caller: string, calls: readonly ModelCall[]): Promise<void>;
}
