import type { ClosureResult } from '../records/window-closure.ts';
import type { Failure } from '../records/job.ts';
import type { Verdict } from '../records/vision.ts';
import type { Screening } from './screen-capture.ts';

type Captured = Extract<Screening, { kind: 'look' }>['captured'];

/** What was seen of the stream, and where there was news, what became of it: a verdict, none, or a sample for the summary. */
type Observation =
  | Exclude<Screening, { kind: 'look' }>
  | { kind: 'looked'; verdict: Verdict; captured: Captured }
  | { kind: 'missed'; failure: Failure; captured: Captured }
  | { kind: 'sampled'; captured: Captured };

/** What a tick came to. */
export type TickOutcome = Observation & {
  /** Of a digest: the windows that end with this tick. */
  closed?: ClosureResult | undefined;
};
