import type { CoreDeps, Limits } from '../dependencies.ts';
import { leaseUntil } from '../tick/next-tick.ts';
import type { Job } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal, transitions } from '../records/job.ts';
import { failJob } from './end-job.ts';
import { publishEvents } from '../event/publish.ts';
import { repairEach } from '../repair-each.ts';
import type { SweepBounds } from '../repair-each.ts';
import { ageSeconds } from '../time.ts';
import { rules } from '../rules.ts';

export type ReconcileDeps = Pick<CoreDeps, 'jobs' | 'queue' | 'executions' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

export type ReconcileOptions = {
  /** Inspects jobs whose lease ends before this time: now, or a later time for all active jobs (at the start). */
  dueBy: Date;
  limit: number;
  /** Time from which no repair begins; the next sweep does the rest. */
  endBy?: Date;
};

/**
 * Repairs work that a crash interrupted: starts missing executions, publishes events that did not reach the queue, and fails jobs whose
 * execution ended without them or is silent for longer than a tick may take. Returns the number of inspected jobs.
 */
export async function reconcile(
  deps: ReconcileDeps,
  { dueBy, limit, endBy }: ReconcileOptions,
): Promise<number> {
  return repairJobs(await deps.jobs.dueForRepair(dueBy, limit), deps, { endBy });
}

/** Repairs jobs that may need it. Returns the number of inspected jobs. */
export function repairJobs(
  jobIds: readonly string[],
  deps: ReconcileDeps,
  bounds: SweepBounds,
): Promise<number> {
  return repairEach(jobIds, (jobId) => repairQuietly(jobId, deps), bounds, deps.now);
}

/** A job that cannot be repaired now must not delay the others. */
async function repairQuietly(jobId: string, deps: ReconcileDeps): Promise<void> {
  try {
    await repairJob(jobId, deps);
  } catch (error) {
    jobLog(deps.log, jobId).error('Repair failed; it is tried again', { error: String(error) });
  }
}

/** Repairs one job if a repair is needed: `ended` is its execution that has ended, if that is why. Throws the error of a failed repair. */
export async function repairJob(jobId: string, deps: ReconcileDeps, ended?: EndedExecution): Promise<void> {
  const job = await deps.jobs.get(jobId, deps.now());
  if (!job) return;
  await publishEvents(jobId, deps);
  if (isTerminal(job.status) || isFollowed(job, ended)) return;
  const execution = { job_id: jobId, generation: job.generation };
  const status =
    ended?.generation === job.generation ? ended.status : await deps.executions.status(execution);
  if (status === undefined) {
    jobLog(deps.log, jobId).warning('Execution was missing; starting it');
    if (await renewLease(job, deps)) await deps.executions.start(execution);
    return;
  }
  if (status === 'not_running') {
    if (!isOverdue(job, deps.now()) || !(await renewLease(job, deps))) return;
    if ((await deps.executions.start(execution)) === 'started') return;
  }
  const observed = { generation: job.generation, status, runsHere: deps.executions.runsHere(execution) };
  const isLostNow = (current: Job): boolean => isLost(current, observed, deps.now());
  // Read again: a tick, a hand-over or another repair may have been committed since the job was read.
  const current = await deps.jobs.get(jobId, deps.now());
  if (!current || isTerminal(current.status)) return;
  if (!isLostNow(current)) {
    // Its execution runs and may be in a retry: the next sweep inspects other jobs.
    if (isOverdue(current, deps.now())) await renewLease(current, deps);
    return;
  }
  jobLog(deps.log, jobId).error('Job lost: its execution ended without it, or was silent for too long', {
    execution: status,
  });
  const remediation = 'The job was lost after a fault of the service. Start it again.';
  await failJob(jobId, remediation, deps, isLostNow);
}

/** Extends the lease, so that a later or concurrent sweep skips the job while its execution starts. */
async function renewLease({ job_id: jobId, sequence }: Job, deps: ReconcileDeps): Promise<boolean> {
  const set = { lease_until: leaseUntil(deps.now()) };
  const change = { jobId, from: transitions.end.from, expectedSequence: sequence, set, events: [] };
  return (await deps.jobs.commit(change)) === 'committed';
}

/** Execution that has ended, as its event says. */
export type EndedExecution = { generation: number; status: 'succeeded' | 'failed' | 'aborted' };

/**
 * Returns true if the execution that follows the ended one has begun: it took a burst. Each generation ends one execution, so a request for
 * its status would exceed the quota of Step Functions (DescribeExecution, 10 to 15 per second) with some thousand jobs.
 */
export function isFollowed(
  { generation, burst }: { generation: number; burst: number },
  ended: EndedExecution | undefined,
): boolean {
  return ended !== undefined && ended.generation < generation && burst > 0;
}

/** Execution of one generation, with the status that was read before the job. */
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
function isOverdue(job: Job, now: Date): boolean {
  return new Date(job.lease_until) < now;
}
