import type { Collaborators, Limits } from '../collaborators.ts';
import { isLost, isOverdue } from '../decision/lost-job.ts';
import { leaseFrom } from '../decision/tick-change.ts';
import type { Job } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal, transitions } from '../transitions.ts';
import { failJob } from './end-job.ts';
import { publishEvents } from './publish-events.ts';

export type ReconcileNeeds = Pick<Collaborators, 'jobs' | 'queue' | 'executions' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

export type Sweep = {
  /** Jobs whose lease ends before this are looked at: now, or later to look at every active job (at a start). */
  dueBy: Date;
  limit: number;
  /** No repair is begun from then on: what is left is due again at the next sweep. */
  endBy?: Date;
};

/**
 * Finishes what a crash left half done: starts executions that are missing, publishes events that did not reach the
 * queue, and fails jobs whose execution ended without them or is silent for longer than a tick may take. Returns the number of jobs looked at.
 */
export async function reconcile(c: ReconcileNeeds, { dueBy, limit, endBy }: Sweep): Promise<number> {
  const jobIds = await c.jobs.dueForRepair(dueBy, limit);
  for (const [done, jobId] of jobIds.entries()) {
    if (endBy && c.now() >= endBy) return done;
    await repairQuietly(jobId, c);
  }
  return jobIds.length;
}

/** One job that cannot be repaired now must not keep the others waiting. */
async function repairQuietly(jobId: string, c: ReconcileNeeds): Promise<void> {
  try {
    await repairJob(jobId, c);
  } catch (error) {
    jobLog(c.log, jobId).error('Repair failed; it is tried again', { error: String(error) });
  }
}

/** One job whose execution is said to have ended; harmless where there is nothing to repair. Throws what it could not do. */
export async function repairJob(jobId: string, c: ReconcileNeeds): Promise<void> {
  const job = await c.jobs.get(jobId, c.now());
  if (!job) return;
  await publishEvents(jobId, c);
  if (isTerminal(job.status)) return;
  const execution = { job_id: jobId, generation: job.generation };
  const status = await c.executions.status(execution);
  if (status === undefined) {
    jobLog(c.log, jobId).warning('Execution was missing; starting it');
    if (await renewLease(job, c)) await c.executions.start(execution);
    return;
  }
  const observed = { generation: job.generation, status, runsHere: c.executions.runsHere(execution) };
  const isLostNow = (current: Job): boolean => isLost(current, observed, c.now());
  // Read again: a tick, a hand-over or another repair may have been committed since the job was read.
  const current = await c.jobs.get(jobId, c.now());
  if (!current || isTerminal(current.status)) return;
  if (!isLostNow(current)) {
    // Its execution runs and may be retrying: the next sweep has others to look at.
    if (isOverdue(current, c.now())) await renewLease(current, c);
    return;
  }
  jobLog(c.log, jobId).error('Job lost: its execution ended without it, or was silent for too long', {
    execution: status,
  });
  const remediation = 'The job was lost after a fault of the service. Start it again.';
  await failJob(jobId, remediation, c, isLostNow);
}

/** So that the next sweep, or another one at the same time, leaves the job alone until it had time to go on. */
async function renewLease({ job_id: jobId, sequence }: Job, c: ReconcileNeeds): Promise<boolean> {
  const set = { lease_until: leaseFrom(c.now()) };
  const change = { jobId, from: transitions.end.from, expectedSequence: sequence, set, events: [] };
  return (await c.jobs.commit(change)) === 'committed';
}
