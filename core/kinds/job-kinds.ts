import type { Job } from '../records/job.ts';
import { digestKind } from './digest.ts';
import type { JobKind } from './job-kind.ts';
import { monitorKind } from './monitor.ts';

/** Calls `use` with the kind of a job. This is the list of the kinds of all policies of jobs. */
export function withKind<Result>(job: Job, use: <J extends Job>(job: J, kind: JobKind<J>) => Result): Result {
  switch (job.policy) {
    case 'monitor':
      return use(job, monitorKind);
    case 'digest':
      return use(job, digestKind);
  }
}
