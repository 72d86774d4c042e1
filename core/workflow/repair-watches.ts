import type { CoreDeps } from '../dependencies.ts';
import { publishWatchEvents } from '../event/publish-watch.ts';
import { isFollowed } from '../job/reconcile.ts';
import type { EndedExecution } from '../job/reconcile.ts';
import { purgeAfterSeconds } from '../ports/watch-store.ts';
import type { StoredWatch } from '../ports/watch-store.ts';
import { rules } from '../rules.ts';
import { repairEach } from '../repair-each.ts';
import type { SweepBounds } from '../repair-each.ts';
import { leaseUntil } from '../tick/next-tick.ts';
import { addSeconds, ageSeconds } from '../time.ts';
import { watchLog } from '../watch/watch-log.ts';

export type RepairWatchDeps = Pick<
  CoreDeps,
  'watches' | 'deliveries' | 'executions' | 'queue' | 'log' | 'now'
>;

/** Time after which a paused watch is inspected again, in seconds: it has nothing to repair. */
const pausedLeaseSeconds = 30 * 86_400;

/** Starts executions of watches that are missing, and the next generation of those whose execution ended without them. Returns the number of watches. */
export async function repairWatches(
  deps: RepairWatchDeps,
  { dueBy, limit, endBy }: { dueBy: Date; limit: number; endBy?: Date },
): Promise<number> {
  return repairListedWatches(await deps.watches.dueForRepair(dueBy, limit), deps, { endBy });
}

/** Repairs watches that may need it. Returns the number of inspected watches. */
export function repairListedWatches(
  watchIds: readonly string[],
  deps: RepairWatchDeps,
  bounds: SweepBounds,
): Promise<number> {
  return repairEach(watchIds, (watchId) => repairQuietly(watchId, deps), bounds, deps.now);
}

/** A watch that cannot be repaired now must not delay the others. */
async function repairQuietly(watchId: string, deps: RepairWatchDeps): Promise<void> {
  try {
    await repairWatch(watchId, deps);
  } catch (error) {
    watchLog(deps.log, watchId).error('Repair failed; it is tried again', { error: String(error) });
  }
}

/**
 * Repairs one watch: `ended` is its execution that has ended, if that is why. A watch never fails: a lost execution is followed by the next
 * generation.
 */
export async function repairWatch(
  watchId: string,
  deps: RepairWatchDeps,
  ended?: EndedExecution,
): Promise<void> {
  const stored = await deps.watches.getIncludingDeleted(watchId);
  if (!stored) return;
  await publishWatchEvents(watchId, deps);
  if (stored.run.deleted_at !== null) return purgeLater(stored, deps);
  if (stored.run.state.causes.paused) return void (await renewLease(stored, deps, pausedLeaseSeconds));
  const { generation } = stored.run;
  if (isFollowed({ generation, burst: stored.run.state.burst }, ended)) return;
  const execution = { job_id: watchId, generation };
  const status = ended?.generation === generation ? ended.status : await deps.executions.status(execution);
  const isOverdue = new Date(stored.run.lease_until) < deps.now();
  if (status === undefined) {
    watchLog(deps.log, watchId).warning('Execution was missing; starting it');
    if (await renewLease(stored, deps)) await deps.executions.start(execution);
    return;
  }
  if (status === 'running' && (deps.executions.runsHere(execution) || !isSilent(stored, deps.now()))) {
    if (isOverdue) await renewLease(stored, deps);
    return;
  }
  // The next generation may have begun since the executions were listed.
  if (status === 'not_running' && !isOverdue) return;
  await startAfterFailure(stored, `the execution was ${status}`, deps);
}

/** Starts the next generation of a watch after a failure, with a wait that grows with the failures in a row. */
export async function startAfterFailure(
  { watch, run }: StoredWatch,
  cause: string,
  deps: Pick<RepairWatchDeps, 'watches' | 'executions' | 'log' | 'now'>,
): Promise<void> {
  const waits = rules.watchBackoffSeconds;
  const failures = run.state.failed_executions + 1;
  const wakeAt = addSeconds(deps.now(), waits[Math.min(failures, waits.length) - 1] ?? 1);
  const generation = run.generation + 1;
  const next = run.state.next && {
    ...run.state.next,
    done: false,
    confirming: false,
    wait_until: new Date(Math.ceil(wakeAt.getTime() / 1000) * 1000).toISOString(),
  };
  const result = await deps.watches.commit({
    watchId: watch.watch_id,
    expectedVersion: run.version,
    set: {
      generation,
      lease_until: leaseUntil(wakeAt),
      state: { ...run.state, next, failed_executions: failures, execution_ticks: 0, burst: 0 },
    },
    events: [],
    alerts: [],
    hours: [],
  });
  if (result !== 'committed') return;
  watchLog(deps.log, watch.watch_id).error('Watch restarted after a failure', { cause, generation });
  await deps.executions.start({ job_id: watch.watch_id, generation });
}

/** Returns true if the watch has been silent for longer than all retries of a tick take. */
function isSilent({ run }: StoredWatch, now: Date): boolean {
  const dueAt = run.state.next?.wait_until ?? run.lease_until;
  return new Date(run.lease_until) < now && ageSeconds(dueAt, now) > rules.maxTickSeconds;
}

async function renewLease({ watch, run }: StoredWatch, deps: RepairWatchDeps, seconds = 0): Promise<boolean> {
  const result = await deps.watches.commit({
    watchId: watch.watch_id,
    expectedVersion: run.version,
    set: { lease_until: leaseUntil(addSeconds(deps.now(), seconds)) },
    events: [],
    alerts: [],
    hours: [],
  });
  return result === 'committed';
}

/** Removes a deleted watch once its last deliveries have ended, a day later at most. */
async function purgeLater({ watch, run }: StoredWatch, { watches, now }: RepairWatchDeps): Promise<void> {
  if (run.deleted_at !== null && ageSeconds(run.deleted_at, now()) >= purgeAfterSeconds)
    await watches.purge(watch.watch_id);
}
