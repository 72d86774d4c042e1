import { z } from 'zod';
import { jobSchema } from './job.ts';
import type { JobPolicy } from './job.ts';

/** Type of a job in the interface, by the policy of its run. */
export const jobTypes = { monitor: 'live-monitor', digest: 'live-digest' } as const satisfies Record<
  JobPolicy,
  string
>;

export const jobTypeSchema = z.enum(jobTypes);
type JobType = z.infer<typeof jobTypeSchema>;

/** Policies of jobs. */
export const jobPolicies = jobSchema.options.map(({ shape }) => shape.policy.value);

/** Returns the policy of a type in a request. */
export function toPolicy(type: JobType): JobPolicy | undefined {
  return jobPolicies.find((policy) => jobTypes[policy] === type);
}
