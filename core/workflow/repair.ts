import type { CoreDeps, Limits } from '../dependencies.ts';
import { publishRun } from '../delivery/publish.ts';
import { isIdle } from '../event/stored-run.ts';
import { runLog, type Log } from '../ports/observability.ts';
import { purgeAfterSeconds, type RunStore } from '../ports/runs.ts';
import { toLogKey, toRunKey, type Run, type WatchRun } from '../records/run.ts';
import { rules } from '../rules.ts';
import { leaseUntil, nextGeneration } from '../tick/advance-run.ts';
import { addSeconds, ageSeconds } from '../time.ts';
import { failJob } from '../job/end-job.ts';
import type { Executions } from '../ports/executions.ts';

export type RepairDeps = Pick<CoreDeps, 'runs' | 'deliveries' | 'executions' | 'queue' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

export type SweepBounds = {
  /** Time from which no repair begins; the next sweep does the rest. */
  endBy?: Date | undefined;
  /** Maximum concurrent repairs. Default: 1. */
  atOnce?: number;
};

/** Bounds of a sweep: `dueBy` is now, or a later time for all active runs (at the start). */
export type SweepOptions = { dueBy: Date; limit: number; endBy?: Date };

/** Time after which a paused watch is inspected again, in seconds: it has nothing to repair. */
const pausedLeaseSeconds = 30 * 86_400;

/** Execution that has ended, as its event says. */
export type EndedExecution = { generation: number; status: 'succeeded' | 'failed' | 'aborted' };

/** Execution of one generation, with its status. */
export type ObservedExecution = {
  generation: number;
  status: string;
  /** True if this process runs it. */
  runsHere: boolean;
};

/**
 * Repairs runs after a crash: starts missing executions, publishes events that did not reach the queue, and handles
 * runs whose execution ended without them or is silent for longer than a tick may take. Returns the number of inspected
 * runs.
 */
export async function repairDue(deps: RepairDeps, { dueBy, limit, endBy }: SweepOptions): Promise<number> {
  return repairListed(await deps.runs.dueForRepair(dueBy, limit), deps, { endBy });
}

/**
 * Repairs runs that may need it. Returns the number of inspected runs. One that cannot be repaired now must not delay
 * the others.
 */
export function repairListed(ids: readonly string[], deps: RepairDeps, bounds: SweepBounds): Promise<number> {
  return repairEach(ids, repairQuietly, bounds, deps.now);

  async function repairQuietly(id: string): Promise<void> {
    try {
      await repairRun(id, deps);
    } catch (error) {
      const fields = { run_id: id, error: String(error) };
      deps.log.error('Repair failed; it is tried again', fields);
    }
  }
}

/**
 * Repairs one run if a repair is needed: `ended` is its execution that has ended, if that is why. Throws the error of a
 * failed repair.
 */
export async function repairRun(id: string, deps: RepairDeps, ended?: EndedExecution): Promise<void> {
  const { runs, executions, now } = deps;
  const run = await runs.getIncludingEnded(id);
  if (!run) return;
  await publishRun(toRunKey(run), deps);
  if (isIdle(run)) return settle(run, deps);
  if (isFollowed(run, ended)) return;
  const { generation } = run;
  const execution = { run_id: id, generation };
  const log = runLog(deps.log, toLogKey(run));
  const status = ended?.generation === generation ? ended.status : await executions.status(execution);
  if (status === undefined) {
    log.warning('Execution was missing; starting it');
    if (await renewLease(run, deps)) await executions.start(execution);
    return;
  }
  const observed = { generation, status, runsHere: executions.runsHere(execution) };
  if (isLost(run, observed, now())) return recover(run, observed, deps, log);
  // Its execution runs and may be in a retry: the next sweep inspects other runs.
  if (status === 'running' && isOverdue(run, now())) await renewLease(run, deps);
}

/**
 * Handles a run without an execution: removes a deleted watch once its last deliveries have ended, a day later at most.
 */
async function settle(run: Run, deps: RepairDeps): Promise<void> {
  if (run.policy !== 'watch') return;
  if (run.deleted_at === null) await renewLease(run, deps, pausedLeaseSeconds);
  else if (ageSeconds(run.deleted_at, deps.now()) >= purgeAfterSeconds) await deps.runs.purge(run.run_id);
}

/** Handles a run whose execution ended without it, or is silent for too long. */
async function recover(run: Run, observed: ObservedExecution, deps: RepairDeps, log: Log): Promise<void> {
  const { run_id: id, generation } = run;
  const { runs, executions, now } = deps;
  if (observed.status === 'not_running') {
    if (!(await renewLease(run, deps))) return;
    if ((await executions.start({ run_id: id, generation })) === 'started') return;
  }
  // It has ended: a repeated start said so.
  const ended = observed.status === 'not_running' ? { ...observed, status: 'ended' } : observed;
  const isLostNow = (current: Run): boolean => isLost(current, ended, now());
  // Read again: a tick, a hand-over or another repair may have been committed since the run was read.
  const current = await runs.get(id, now());
  if (!current || isIdle(current)) return;
  if (!isLostNow(current)) {
    if (isOverdue(current, now())) await renewLease(current, deps);
    return;
  }
  log.error('Execution lost: it ended without its run, or was silent for too long', {
    execution: observed.status,
  });
  const remediation = 'The job was lost after a fault of the service. Start it again.';
  await failRun(current, { cause: `the execution was ${observed.status}`, remediation }, deps, isLostNow);
}

/**
 * Extends the lease, so that a later or concurrent sweep skips the run while its execution starts. Returns false after
 * a conflict.
 */
async function renewLease(run: Run, { runs, now }: RepairDeps, addedSeconds = 0): Promise<boolean> {
  const { run_id: runId, version: expectedVersion } = run;
  const change = {
    runId,
    expectedVersion,
    set: { lease_until: leaseUntil(addSeconds(now(), addedSeconds)) },
    events: [],
  };
  return (await runs.commit(change)) === 'committed';
}

/**
 * Returns true if the execution that follows the ended one has begun: it took a burst. Each generation ends one
 * execution, so a request for its status would exceed the quota of Step Functions (DescribeExecution, 10 to 15 per
 * second) with some thousand jobs.
 */
function isFollowed({ generation, burst }: Run, ended: EndedExecution | undefined): boolean {
  return ended !== undefined && ended.generation < generation && burst > 0;
}

/**
 * Returns true if the run cannot continue: its execution ended without it, or has been silent for longer than all
 * retries of a tick take. The status of an earlier generation proves nothing, and 'not_running' only after the lease:
 * the next generation may have begun since.
 */
export function isLost(run: Run, { generation, status, runsHere }: ObservedExecution, now: Date): boolean {
  if (run.generation !== generation) return false;
  if (status === 'not_running') return isOverdue(run, now);
  if (status !== 'running') return true;
  // After the machine slept, or once a full disk has room, a sweep may come before the tick that is under way.
  if (runsHere) return false;
  return isOverdue(run, now) && ageSeconds(readDueTime(run), now) > rules.maxTickSeconds;
}

/** Returns true if the run has not committed within its lease. */
function isOverdue({ lease_until }: Run, now: Date): boolean {
  return new Date(lease_until) < now;
}

/** Returns the time of the next tick, or of the begin. */
function readDueTime(run: Run): string {
  if (run.next !== null) return run.next.wait_until;
  return run.policy === 'watch' ? run.lease_until : (run.started_at ?? run.created_at);
}

/** Repairs one id after the other, or some of them concurrently. Returns the number of repairs that began. */
async function repairEach(
  ids: readonly string[],
  repair: (id: string) => Promise<void>,
  { endBy, atOnce = 1 }: SweepBounds,
  now: () => Date,
): Promise<number> {
  const left = [...ids].toReversed();
  let begun = 0;
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, repairNext));
  return begun;

  async function repairNext(): Promise<void> {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (endBy && now() >= endBy) return;
      begun += 1;
      await repair(id);
    }
  }
}

export type FailDeps = Pick<CoreDeps, 'log' | 'now'> & {
  runs: Pick<RunStore, 'get' | 'commit'>;
  executions: Pick<Executions, 'start' | 'stop'>;
  limits: Pick<Limits, 'retentionSeconds'>;
};

/** Reason of the failure of an execution, for operators, and the remediation for the caller of a job. */
export type RunFailure = { cause: string; remediation: string };

/**
 * Handles a run that its execution left: a job fails, a watch continues with its next generation. `mustFail` is checked
 * on each state that is changed.
 */
export async function failRun(
  run: Run,
  { cause, remediation }: RunFailure,
  deps: FailDeps,
  mustFail: (run: Run) => boolean,
): Promise<void> {
  if (run.policy !== 'watch') await failJob(run.run_id, remediation, deps, mustFail);
  else if (mustFail(run)) await startAfterFailure(run, cause, deps);
}

/** Starts the next generation of a watch, after a wait that grows with the failures in a row. */
async function startAfterFailure(watch: WatchRun, cause: string, deps: FailDeps): Promise<void> {
  const waits = rules.watchBackoffSeconds;
  const failures = watch.state.failed_executions + 1;
  const wakeAt = addSeconds(deps.now(), waits[Math.min(failures, waits.length) - 1] ?? 1);
  const next = watch.next && {
    ...watch.next,
    done: false,
    confirming: false,
    wait_until: new Date(Math.ceil(wakeAt.getTime() / 1000) * 1000).toISOString(),
  };
  const result = await deps.runs.commit({
    runId: watch.run_id,
    expectedVersion: watch.version,
    set: {
      ...nextGeneration(watch, watch.handed_over),
      next,
      lease_until: leaseUntil(wakeAt),
      state: { ...watch.state, failed_executions: failures },
    },
    events: [],
  });
  if (result !== 'committed') return;
  const generation = watch.generation + 1;
  runLog(deps.log, toLogKey(watch)).error('Watch restarted after a failure', {
    cause,
    generation,
  });
  await deps.executions.start({ run_id: watch.run_id, generation });
}
