import type { Job } from '../records/job.ts';
import { digestDecisions } from './digest/policy.ts';
import type { JobDecisions } from './job/policy.ts';
import { monitorDecisions } from './monitor/policy.ts';

/** Calls `use` with the decisions about a job. This is the list of the decisions of all policies of jobs. */
export function withDecisions<Result>(
  job: Job,
  use: <J extends Job>(job: J, decisions: JobDecisions<J>) => Result,
): Result {
  switch (job.policy) {
    case 'monitor':
      return use(job, monitorDecisions);
    case 'digest':
      return use(job, digestDecisions);
  }
}
