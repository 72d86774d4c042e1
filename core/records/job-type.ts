import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { jobPolicies } from './job.ts';
import type { JobPolicy } from './job.ts';

/** Returns the type of a job in the interface. */
export function toJobType<P extends JobPolicy>(policy: P) {
  return `live-${policy}` as const;
}

export const jobTypeSchema = z.enum(jobPolicies.map((policy) => toJobType(policy)));
apiNames.add(jobTypeSchema, { id: 'JobType' });
type JobType = z.infer<typeof jobTypeSchema>;

/** Returns the policy of a type in a request. */
export function toPolicy(type: JobType): JobPolicy | undefined {
  return jobPolicies.find((policy) => toJobType(policy) === type);
}
