import { createDigestPolicy } from '../policies/digest/policy.ts';
import { createMonitorPolicy } from '../policies/monitor/policy.ts';
import type { JobSettings } from '../policies/job-policy.ts';
import type { Observation, Policy } from '../policies/policy.ts';
import { createWatchPolicy } from '../policies/watch/policy.ts';
import type { WatchSettings } from '../policies/watch/policy.ts';
import type { Run } from '../records/run.ts';

/** Settings of the service that decisions depend on. */
export type PolicySettings = JobSettings & WatchSettings;

/** Calls `use` with the policy of a run. This is the list of all policies. */
export function withPolicy<Result>(
  run: Run,
  settings: PolicySettings,
  use: <R extends Run, Seen extends Observation>(run: R, policy: Policy<R, Seen>) => Result,
): Result {
  switch (run.policy) {
    case 'monitor':
      return use(run, createMonitorPolicy(settings));
    case 'digest':
      return use(run, createDigestPolicy(settings));
    case 'watch':
      return use(run, createWatchPolicy(settings));
  }
}
