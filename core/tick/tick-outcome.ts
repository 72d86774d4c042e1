import type { ClosureResult } from '../records/window-closure.ts';
import type { Failure } from '../records/job.ts';
import type { Verdict } from '../records/vision.ts';
import type { Screening } from './screen-capture.ts';

type Captured = Extract<Screening, { kind: 'look' }>['captured'];

/** Observation of the stream. A fresh capture leads to a verdict, a failed model call, or a sample for the summary. */
type Observation =
  | Exclude<Screening, { kind: 'look' }>
  | { kind: 'looked'; verdict: Verdict; captured: Captured }
  | { kind: 'missed'; failure: Failure; captured: Captured }
  | { kind: 'sampled'; captured: Captured };

/** Result of a tick: its observation and, of a digest, the closed windows. */
export type TickOutcome = Observation & {
  /** Digest only: windows that end with this tick. */
  closed?: ClosureResult | undefined;
};
