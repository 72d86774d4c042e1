import type { Job } from '../records/job.ts';
import { ageSeconds } from '../time.ts';
import { rules } from '../rules.ts';

/** The execution of one generation, with the status that was read before the job. */
type ObservedExecution = {
  generation: number;
  status: string;
  /** True if this process runs it. */
  runsHere: boolean;
};

/**
 * Returns true if the job cannot continue: its execution ended without it, or has been silent for longer than all retries of a tick take. The
 * status of an earlier generation proves nothing.
 */
export function isLost(job: Job, { generation, status, runsHere }: ObservedExecution, now: Date): boolean {
  if (job.generation !== generation) return false;
  if (status !== 'running') return true;
  // After the machine slept, or once a full disk has room, a sweep may come before the tick that is under way.
  if (runsHere) return false;
  const dueAt = job.next?.wait_until ?? job.started_at ?? job.created_at;
  return isOverdue(job, now) && ageSeconds(dueAt, now) > rules.maxTickSeconds;
}

/** Returns true if the job has not committed within its lease. */
export function isOverdue(job: Job, now: Date): boolean {
  return new Date(job.lease_until) < now;
}
