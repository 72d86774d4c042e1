import type { CoreDeps, Limits } from '../dependencies.ts';
import { publishRun } from '../event/publish.ts';
import { failJob } from '../job/end-job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../records/job.ts';
import type { Job } from '../records/job.ts';
import { planUpdate } from '../tick/job-change.ts';
import { leaseUntil } from '../tick/next-tick.ts';
import { isLost, isOverdue, repairRun, repairRuns } from './repair.ts';
import type { EndedExecution, ObservedExecution, RepairKind, RepairView } from './repair.ts';
import type { SweepBounds } from '../repair-each.ts';

export type RepairJobDeps = Pick<CoreDeps, 'jobs' | 'deliveries' | 'queue' | 'executions' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

/** Bounds of a sweep: `dueBy` is now, or a later time for all active runs (at the start). */
export type SweepOptions = { dueBy: Date; limit: number; endBy?: Date };

/**
 * Repairs jobs after a crash: starts missing executions, publishes events that did not reach the queue, and fails jobs whose execution ended without them
 * or is silent for longer than a tick may take. Returns the number of inspected jobs.
 */
export async function repairJobs(
  deps: RepairJobDeps,
  { dueBy, limit, endBy }: SweepOptions,
): Promise<number> {
  return repairListedJobs(await deps.jobs.dueForRepair(dueBy, limit), deps, { endBy });
}

/** Repairs jobs that may need it. Returns the number of inspected jobs. */
export function repairListedJobs(
  jobIds: readonly string[],
  deps: RepairJobDeps,
  bounds: SweepBounds,
): Promise<number> {
  return repairRuns(jobIds, createKind(deps), deps, bounds);
}

/** Repairs one job if a repair is needed: `ended` is its execution that has ended, if that is why. Throws the error of a failed repair. */
export function repairJob(jobId: string, deps: RepairJobDeps, ended?: EndedExecution): Promise<void> {
  return repairRun(jobId, createKind(deps), deps, ended);
}

function createKind(deps: RepairJobDeps): RepairKind<Job> {
  const { jobs, now } = deps;
  return {
    log: (id) => jobLog(deps.log, id),
    find: async (id) => jobs.get(id, now()),
    view: toRepairView,
    publish: async (id) => publishRun({ run: 'job', run_id: id }, jobs, deps),
    renewLease,
    settle: async () => undefined,
    recover,
  };

  async function renewLease(job: Job): Promise<boolean> {
    const set = { lease_until: leaseUntil(now()) };
    return (await jobs.commit(planUpdate(job, { set, events: [] }, now()))) === 'committed';
  }

  async function recover(job: Job, observed: ObservedExecution): Promise<void> {
    const { run_id: jobId, generation } = job;
    if (observed.status === 'not_running') {
      if (!(await renewLease(job))) return;
      if ((await deps.executions.start({ job_id: jobId, generation })) === 'started') return;
    }
    // It has ended: a repeated start said so.
    const ended = observed.status === 'not_running' ? { ...observed, status: 'ended' } : observed;
    const isLostNow = (current: Job): boolean => isLost(toRepairView(current), ended, now());
    // Read again: a tick, a hand-over or another repair may have been committed since the job was read.
    const current = await jobs.get(jobId, now());
    if (!current || isTerminal(current.status)) return;
    if (!isLostNow(current)) {
      if (isOverdue(toRepairView(current), now())) await renewLease(current);
      return;
    }
    jobLog(deps.log, jobId).error('Job lost: its execution ended without it, or was silent for too long', {
      execution: observed.status,
    });
    const remediation = 'The job was lost after a fault of the service. Start it again.';
    await failJob(jobId, remediation, deps, isLostNow);
  }
}

/** Returns the part of a job that decides about its repair. */
export function toRepairView(job: Job): RepairView {
  const { generation, burst, lease_until, next, started_at, created_at, status } = job;
  const dueAt = next?.wait_until ?? started_at ?? created_at;
  return { generation, burst, leaseUntil: lease_until, dueAt, isIdle: isTerminal(status) };
}
