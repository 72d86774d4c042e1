import type { Job } from '../../records/job.ts';
import type { CaptureOutput } from '../../records/workflow.ts';
import { screenOutput, type Screening } from '../../sight/screening.ts';
import { earlier } from '../../time.ts';

/**
 * Screens the capture of a job's tick. A capture that began at the deadline or later is not used. If `isUnjudged`, the
 * last frame had no verdict, and is judged again, unless the job looks back.
 */
export function screenCapture(job: Job, output: CaptureOutput, now: Date, isUnjudged = false): Screening {
  const beganAt = earlier(new Date(output.began_at), now);
  if (job.deadline !== null && beganAt >= new Date(job.deadline)) return { kind: 'no_capture' };
  const state = {
    prefilter: job.config.enable_prefilter && !isUnjudged,
    skippedInARow: job.sight.skipped_in_a_row,
    // The next scan has the frame again: judged here, it would be judged twice.
    judgesRepeated: isUnjudged && !('look_back' in job.config),
  };
  return screenOutput(output, state);
}
