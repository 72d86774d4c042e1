import type { Job } from '../job.ts';

/** The execution of one generation, with the status that was read before the job. */
type ObservedExecution = {
  generation: number;
  status: string;
  /** True if this process runs it. */
  runsHere: boolean;
};

/** Returns true if the job cannot continue: its execution ended, or is silent beyond the lease. An earlier generation says nothing about the job. */
export function isLost(job: Job, { generation, status, runsHere }: ObservedExecution, now: Date): boolean {
  if (job.generation !== generation) return false;
  if (status !== 'running') return true;
  // After the machine slept, or once a full disk has room, a sweep may come before the tick that is under way.
  return !runsHere && new Date(job.lease_until) < now;
}
