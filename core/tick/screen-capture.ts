import type { Job } from '../records/job.ts';
import type { CaptureOutput } from '../records/workflow.ts';
import { screenOutput } from '../sight/screening.ts';
import type { Screening } from '../sight/screening.ts';
import { earlier } from '../time.ts';

/** Screens the capture of a job's tick. A capture that began at the deadline or later is not used. */
export function screenCapture(job: Job, output: CaptureOutput, now: Date): Screening {
  const beganAt = earlier(new Date(output.began_at), now);
  if (job.deadline !== null && beganAt >= new Date(job.deadline)) return { kind: 'no_capture' };
  const state = {
    prefilter: job.config.enable_prefilter && !isUnjudged(job),
    skippedInARow: job.sight.skipped_in_a_row,
    judgesRepeated: isUnjudged(job),
  };
  return screenOutput(output, state);
}

/** After a failed model call the same frame is checked again. A digest has already kept it. */
function isUnjudged(job: Job): boolean {
  return job.policy === 'monitor' && job.sight.model_trouble !== null;
}
