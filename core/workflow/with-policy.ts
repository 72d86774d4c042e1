import { withDecisions } from '../policies/job-policies.ts';
import { toPolicy } from '../policies/job-policy.ts';
import type { JobSettings } from '../policies/job-policy.ts';
import type { Observation, Policy } from '../policies/policy.ts';
import { createWatchPolicy } from '../policies/watch/policy.ts';
import type { WatchSettings } from '../policies/watch/policy.ts';
import type { Run } from '../records/run.ts';

/** Settings of the service that decisions depend on. */
export type PolicySettings = JobSettings & WatchSettings;

/** Calls `use` with the policy of a run. */
export function withPolicy<Result>(
  run: Run,
  settings: PolicySettings,
  use: <R extends Run, Seen extends Observation>(run: R, policy: Policy<R, Seen>) => Result,
): Result {
  if (run.policy === 'watch') return use(run, createWatchPolicy(settings));
  return withDecisions(run, (job, decisions) => use(job, toPolicy(job.policy, decisions, settings)));
}
