import type { Collaborators } from '../collaborators.ts';
import type { Job } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../transitions.ts';
import { failJob } from './end-job.ts';
import { publishEvents } from './publish-events.ts';

type Needs = Pick<Collaborators, 'jobs' | 'queue' | 'executions' | 'log' | 'limits' | 'now'>;

export type Sweep = {
  /** Jobs whose lease ends before this are looked at: now, or later to look at every active job (at a start). */
  dueBy: Date;
  limit: number;
};

/**
 * Finishes what a crash left half done: starts executions that are missing, publishes events that did not reach the
 * queue, and fails jobs whose lease ran out or whose execution ended without them. Returns the number of jobs looked at.
 */
export async function reconcile(c: Needs, { dueBy, limit }: Sweep): Promise<number> {
  const jobIds = await c.jobs.dueForRepair(dueBy, limit);
  for (const jobId of jobIds) await repairQuietly(jobId, c);
  return jobIds.length;
}

/** One job that cannot be repaired now must not keep the others waiting. */
async function repairQuietly(jobId: string, c: Needs): Promise<void> {
  try {
    await repairJob(jobId, c);
  } catch (error) {
    jobLog(c.log, jobId).error('Repair failed; it is tried again', { error: String(error) });
  }
}

/** One job whose execution is said to have ended; harmless where there is nothing to repair. Throws what it could not do. */
export async function repairJob(jobId: string, c: Needs): Promise<void> {
  const job = await c.jobs.get(jobId, c.now());
  if (!job) return;
  await publishEvents(jobId, c);
  if (isTerminal(job.status)) return;
  const execution = { job_id: jobId, generation: job.generation };
  const status = await c.executions.status(execution);
  if (status === undefined) {
    jobLog(c.log, jobId).warning('Execution was missing; starting it');
    await c.executions.start(execution);
  } else if (status !== 'running' || leaseRanOut(job, c.now())) {
    jobLog(c.log, jobId).error('Job lost: its lease ran out, or its execution ended without it', {
      execution: status,
    });
    await failJob(jobId, 'The job was lost after a fault of the service. Start it again.', c);
  }
}

function leaseRanOut(job: Job, now: Date): boolean {
  return new Date(job.lease_until) < now;
}
