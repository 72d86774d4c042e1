import { countersSchema, type Job } from '../records/job.ts';
import type { Usage } from '../ports/job-store.ts';
import type { Totals } from '../ports/run-store.ts';

/** Adds the counters of active jobs to the totals of ended jobs. */
export function sumUsage(ended: Totals, active: readonly Pick<Job, 'counters'>[]): Usage {
  const usage: Usage = {
    ...ended,
    jobs_created: ended.jobs_completed + ended.jobs_stopped + ended.jobs_failed + active.length,
  };
  for (const { counters } of active) {
    for (const counter of countersSchema.keyof().options) usage[counter] += counters[counter];
  }
  return usage;
}
