import { z } from 'zod';
import type { JobPolicy } from './job.ts';

/** Type of a job in the interface, by the policy of its run. */
export const jobTypes = { monitor: 'live-monitor', digest: 'live-digest' } as const satisfies Record<
  JobPolicy,
  string
>;

export const jobTypeSchema = z.enum([jobTypes.monitor, jobTypes.digest]);
type JobType = z.infer<typeof jobTypeSchema>;

/** Returns the policy of a type in a request. */
export function toPolicy(type: JobType): JobPolicy {
  return type === jobTypes.monitor ? 'monitor' : 'digest';
}
