import type { ClosureResult, WindowClosure } from '../records/window-closure.ts';
import type { DigestJob } from '../records/job.ts';

/** Who has the summaries of a digest's last windows made, for a caller who cancels: here, or where the model may be asked. */
export interface WindowSummarizer {
  /** Takes that long at most. Whatever it throws costs the summary, not the cancellation. */
  summarize(job: DigestJob, closing: WindowClosure, seconds: number): Promise<ClosureResult>;
}
