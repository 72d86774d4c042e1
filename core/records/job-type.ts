import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { jobPolicies, type JobPolicy } from './job.ts';

export function toJobType<P extends JobPolicy>(policy: P) {
  return `live-${policy}` as const;
}

export const jobTypeSchema = z.enum(jobPolicies.map((policy) => toJobType(policy)));
apiNames.add(jobTypeSchema, { id: 'JobType' });
type JobType = z.infer<typeof jobTypeSchema>;

export function toPolicy(type: JobType): JobPolicy | undefined {
  return jobPolicies.find((policy) => toJobType(policy) === type);
}
