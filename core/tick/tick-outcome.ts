import type { ClosureResult } from '../records/window-closure.ts';
import type { Failure } from '../records/job.ts';
import type { Verdict } from '../records/vision.ts';
import type { Screening } from './screen-capture.ts';

type Captured = Extract<Screening, { kind: 'fresh' }>['captured'];

/** Result of a tick's capture: a fresh one has a verdict, a failed model call, or is a sample of a summary. */
type Observation =
  | Exclude<Screening, { kind: 'fresh' }>
  | { kind: 'judged'; verdict: Verdict; captured: Captured }
  | { kind: 'model_failed'; failure: Failure; captured: Captured }
  | { kind: 'sampled'; captured: Captured };

/** Outcome of a tick. */
export type TickOutcome = Observation & {
  /** Windows of a digest that end with this tick. */
  closed?: ClosureResult | undefined;
};
