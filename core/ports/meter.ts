import type { Usage } from './job-store.ts';

/** What `/metrics` counts that no job's counters hold. */
export type Counted =
  /** One question to the model, however many requests its adapter made of it. */
  | { kind: 'model_call'; provider: string; failed: boolean }
  /** A capture that was shown to the model without a job (`/check-once`). */
  | { kind: 'direct_frame' }
  /** A series of attempts is over: the event arrived, or is given up. */
  | { kind: 'delivery'; delivered: boolean };

export type ModelCalls = { calls: number; errors: number };

export type MeterReading = {
  /** Since when it counts. */
  startedAt: Date;
  /** What jobs had come to by then: no part of the numbers. */
  jobsBefore: Usage;
  providers: Record<string, ModelCalls>;
  directFrames: number;
  deliveries: { delivered: number; failed: number };
};

export interface Meter {
  /** Never throws: nothing that is counted fails for it. */
  count(counted: Counted): Promise<void>;
  read(): Promise<MeterReading>;
}
