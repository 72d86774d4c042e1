import type { CoreDeps } from '../dependencies.ts';
import type { Log } from '../ports/log.ts';
import { repairEach } from '../repair-each.ts';
import type { SweepBounds } from '../repair-each.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';

export type RepairDeps = Pick<CoreDeps, 'executions' | 'now'>;

/** Part of a run that decides about its repair. */
export type RepairView = {
  generation: number;
  burst: number;
  leaseUntil: string;
  /** Time of its next tick, or of its begin. */
  dueAt: string;
  /** True if no execution is expected: the job has ended, the watch is paused or deleted. */
  isIdle: boolean;
};

/** Execution that has ended, as its event says. */
export type EndedExecution = { generation: number; status: 'succeeded' | 'failed' | 'aborted' };

/** Execution of one generation, with its status. */
export type ObservedExecution = {
  generation: number;
  status: string;
  /** True if this process runs it. */
  runsHere: boolean;
};

/** Runs of one resource, as a repair needs them. */
export interface RepairKind<Stored> {
  log(id: string): Log;
  find(id: string): Promise<Stored | undefined>;
  view(stored: Stored): RepairView;
  publish(id: string): Promise<void>;
  /** Extends the lease, so that a later or concurrent sweep skips the run while its execution starts. Returns false after a conflict. */
  renewLease(stored: Stored): Promise<boolean>;
  /** Handles a run without an execution. */
  settle(stored: Stored): Promise<void>;
  /** Handles a run whose execution ended without it, or is silent for too long. */
  recover(stored: Stored, observed: ObservedExecution): Promise<void>;
}

/** Repairs runs that may need it. Returns the number of inspected runs. One that cannot be repaired now must not delay the others. */
export function repairRuns<Stored>(
  ids: readonly string[],
  kind: RepairKind<Stored>,
  deps: RepairDeps,
  bounds: SweepBounds,
): Promise<number> {
  return repairEach(ids, repairQuietly, bounds, deps.now);

  async function repairQuietly(id: string): Promise<void> {
    try {
      await repairRun(id, kind, deps);
    } catch (error) {
      kind.log(id).error('Repair failed; it is tried again', { error: String(error) });
    }
  }
}

/** Repairs one run if a repair is needed: `ended` is its execution that has ended, if that is why. Throws the error of a failed repair. */
export async function repairRun<Stored>(
  id: string,
  kind: RepairKind<Stored>,
  { executions, now }: RepairDeps,
  ended?: EndedExecution,
): Promise<void> {
  const stored = await kind.find(id);
  if (!stored) return;
  await kind.publish(id);
  const view = kind.view(stored);
  if (view.isIdle) return kind.settle(stored);
  if (isFollowed(view, ended)) return;
  const { generation } = view;
  const execution = { job_id: id, generation };
  const status = ended?.generation === generation ? ended.status : await executions.status(execution);
  if (status === undefined) {
    kind.log(id).warning('Execution was missing; starting it');
    if (await kind.renewLease(stored)) await executions.start(execution);
    return;
  }
  const observed = { generation, status, runsHere: executions.runsHere(execution) };
  if (isLost(view, observed, now())) return kind.recover(stored, observed);
  // Its execution runs and may be in a retry: the next sweep inspects other runs.
  if (status === 'running' && isOverdue(view, now())) await kind.renewLease(stored);
}

/**
 * Returns true if the execution that follows the ended one has begun: it took a burst. Each generation ends one execution, so a request for
 * its status would exceed the quota of Step Functions (DescribeExecution, 10 to 15 per second) with some thousand jobs.
 */
function isFollowed({ generation, burst }: RepairView, ended: EndedExecution | undefined): boolean {
  return ended !== undefined && ended.generation < generation && burst > 0;
}

/**
 * Returns true if the run cannot continue: its execution ended without it, or has been silent for longer than all retries of a tick take. The
 * status of an earlier generation proves nothing, and 'not_running' only after the lease: the next generation may have begun since.
 */
export function isLost(
  view: RepairView,
  { generation, status, runsHere }: ObservedExecution,
  now: Date,
): boolean {
  if (view.generation !== generation) return false;
  if (status === 'not_running') return isOverdue(view, now);
  if (status !== 'running') return true;
  // After the machine slept, or once a full disk has room, a sweep may come before the tick that is under way.
  if (runsHere) return false;
  return isOverdue(view, now) && ageSeconds(view.dueAt, now) > rules.maxTickSeconds;
}

/** Returns true if the run has not committed within its lease. */
export function isOverdue({ leaseUntil }: Pick<RepairView, 'leaseUntil'>, now: Date): boolean {
  return new Date(leaseUntil) < now;
}
