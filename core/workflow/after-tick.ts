import { decideDigestTick } from '../digest/after-tick.ts';
import type { Job } from '../records/job.ts';
import { decideMonitorTick } from '../monitor/after-tick.ts';
import type { TickDecision } from '../tick/tick-decision.ts';
import type { TickOutcome } from '../tick/tick-outcome.ts';

/** Everything that a tick decides, from the job as it was before, the outcome and the time. Pure. */
export function decideAfterTick(job: Job, outcome: TickOutcome, now: Date): TickDecision {
  switch (job.job_type) {
    case 'live-monitor':
      return decideMonitorTick(job, outcome, now);
    case 'live-digest':
      return decideDigestTick(job, outcome, now);
  }
}
