import type { CallerUse } from '../records/caller.ts';
import type { ModelCall, TokenUse } from '../records/vision.ts';
import type { Usage } from './runs.ts';

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

/** Occurrence that `/metrics` counts beside the counters of jobs. */
export type Counted =
  /** One model call. Repeated requests of its adapter count once. */
  | { kind: 'model_call'; provider: string; failed: boolean }
  /** One capture that reached the model without a job (`/check-once`). */
  | { kind: 'direct_frame' }
  /** One capture of a watch: it reached the model, or the pre-filter skipped it. */
  | { kind: 'watch_frame'; skipped: boolean }
  /**
   * One request of a search in moments: a new search or a continued one, with its model calls and their price, in
   * millionths of a dollar.
   */
  | { kind: 'search'; isNew: boolean; calls: number; microUsd: number }
  /** Moments that could not be stored, of a tick that could. */
  | { kind: 'moments_dropped'; count: number }
  /** Start of an attempt to deliver an event, `lateSeconds` later than planned. */
  | { kind: 'delivery_attempt'; lateSeconds: number }
  /** End of a series of attempts, successful or not. */
  | { kind: 'delivery'; delivered: boolean; isMail: boolean };

/** Model calls of a provider, and how many of them failed. */
export type ModelCalls = { calls: number; errors: number };

export type MeterReading = {
  /** Start of the count. */
  startedAt: Date;
  /** Totals of jobs at `startedAt`, which the metrics exclude. */
  jobsBefore: Usage;
  providers: Record<string, ModelCalls>;
  /** Captures without a job that reached the model, and those that the pre-filter skipped. */
  directFrames: number;
  skippedFrames: number;
  /** All but e-mails. */
  deliveries: { delivered: number; failed: number };
  mails: { delivered: number; failed: number };
  searches: { searches: number; calls: number; microUsd: number };
  momentsDropped: number;
};

/** Counts for `GET /metrics`. */
export interface Meter {
  /** Adds one. Never throws, so that a counted operation never fails because of the count. */
  count(counted: Counted): Promise<void>;
  read(): Promise<MeterReading>;
}
