import type { CoreDeps } from '../dependencies.ts';
import { publishWatchEvents } from '../delivery/publish-watch-events.ts';
import { purgeAfterSeconds } from '../ports/watch-store.ts';
import type { StoredWatch } from '../ports/watch-store.ts';
import { rules } from '../rules.ts';
import { leaseUntil } from '../tick/next-tick.ts';
import { addSeconds, ageSeconds } from '../time.ts';
import { watchLog } from '../watch/watch-log.ts';

export type RepairWatchDeps = Pick<CoreDeps, 'watches' | 'executions' | 'queue' | 'log' | 'now'>;

/** Time after which a paused watch is inspected again, in seconds: it has nothing to repair. */
const pausedLeaseSeconds = 30 * 86_400;

/** Starts executions of watches that are missing, and the next generation of those whose execution ended without them. Returns the number of watches. */
export async function repairWatches(
  deps: RepairWatchDeps,
  { dueBy, limit, endBy }: { dueBy: Date; limit: number; endBy?: Date },
): Promise<number> {
  const watchIds = await deps.watches.dueForRepair(dueBy, limit);
  for (const [done, watchId] of watchIds.entries()) {
    if (endBy && deps.now() >= endBy) return done;
    try {
      await repairWatch(watchId, deps);
    } catch (error) {
      watchLog(deps.log, watchId).error('Repair failed; it is tried again', { error: String(error) });
    }
  }
  return watchIds.length;
}

/** Repairs one watch. A watch never fails: a lost execution is followed by the next generation. */
export async function repairWatch(watchId: string, deps: RepairWatchDeps): Promise<void> {
  const stored = await deps.watches.getIncludingDeleted(watchId);
  if (!stored) return;
  await publishWatchEvents(watchId, deps);
  if (stored.run.deleted_at !== null) return purgeLater(stored, deps);
  if (stored.run.state.causes.paused) return void (await renewLease(stored, deps, pausedLeaseSeconds));
  const execution = { job_id: watchId, generation: stored.run.generation };
  const status = await deps.executions.status(execution);
  if (status === undefined) {
    watchLog(deps.log, watchId).warning('Execution was missing; starting it');
    if (await renewLease(stored, deps)) await deps.executions.start(execution);
    return;
  }
  if (status === 'running' && (deps.executions.runsHere(execution) || !isSilent(stored, deps.now()))) {
    if (new Date(stored.run.lease_until) < deps.now()) await renewLease(stored, deps);
    return;
  }
  await startAfterFailure(stored, `the execution was ${status}`, deps);
}

/** Starts the next generation of a watch after a failure, with a wait that grows with the failures in a row. */
export async function startAfterFailure(
  { watch, run }: StoredWatch,
  cause: string,
  deps: RepairWatchDeps,
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
