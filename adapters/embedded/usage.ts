import { countersSchema, type Job } from '../../core/records/job.ts';
import type { Totals, Usage } from '../../core/ports/job-store.ts';

/** Adds the active jobs to what ended ones left. */
export function sumUsage(ended: Totals, active: Job[]): Usage {
  const usage: Usage = {
    ...ended,
    jobs_created: ended.jobs_completed + ended.jobs_stopped + ended.jobs_failed + active.length,
  };
  for (const { counters } of active) {
    for (const counter of countersSchema.keyof().options) usage[counter] += counters[counter];
  }
  return usage;
}
