import type { Failure } from './failure.ts';
import type { DigestEnd, StoredSample } from '../policies/digest/records.ts';
import type { Summary } from './vision.ts';

/** Time span of a window. `partial`: the job ends before the window. */
export type WindowSpan = { index: number; start: Date; end: Date; partial: boolean };

/** Windows to close, oldest first. At most one of them has samples, so that the model is asked once. */
export type WindowClosure = {
  spans: WindowSpan[];
  samples: StoredSample[];
  last: boolean;
  /** End of the job with its last window; null if the job continues. */
  end: DigestEnd | null;
};

export type SummaryResult =
  | { kind: 'summarized'; summary: Summary }
  /** No model call, or none any more. `why`: reason if there were samples. */
  | { kind: 'none'; why: string | null }
  /** The windows stay open, and the model is called again. */
  | { kind: 'missed'; failure: Failure };

/** Closure with its result. `gridKey`: frame grid of the samples, if requested. */
export type ClosureResult = { closing: WindowClosure; result: SummaryResult; gridKey: string | null };
