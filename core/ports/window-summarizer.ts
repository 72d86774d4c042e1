import type { ClosureResult, WindowClosure } from '../records/window-closure.ts';
import type { JobOf } from '../records/job.ts';

/** Summarizes the last windows of a cancelled digest: in process, or by invoking `analyze` on AWS. */
export interface WindowSummarizer {
  /** Takes at most `seconds`. An error drops the summary and never blocks the cancellation. */
  summarize(job: JobOf<'digest'>, closing: WindowClosure, seconds: number): Promise<ClosureResult>;
}
