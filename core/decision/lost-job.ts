import type { Job } from '../job.ts';

/** The execution of one generation, with the status that was read before the job. */
type ObservedExecution = { generation: number; status: string };

/** Returns true if the job cannot continue: its execution ended, or is silent beyond the lease. An earlier generation says nothing about the job. */
export function isLost(job: Job, { generation, status }: ObservedExecution, now: Date): boolean {
  if (job.generation !== generation) return false;
  return status !== 'running' || new Date(job.lease_until) < now;
}
