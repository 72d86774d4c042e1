import type { CoreDeps } from '../dependencies.ts';
import { publishRun } from '../event/publish.ts';
import { purgeAfterSeconds } from '../ports/watch-store.ts';
import type { WatchRun } from '../records/watch-run.ts';
import { rules } from '../rules.ts';
import type { SweepBounds } from '../repair-each.ts';
import { nextGeneration } from '../tick/advance-run.ts';
import { leaseUntil } from '../tick/next-tick.ts';
import { addSeconds, ageSeconds } from '../time.ts';
import { watchLog } from '../watch/watch-log.ts';
import { repairRun, repairRuns } from './repair.ts';
import type { EndedExecution, RepairKind } from './repair.ts';
import type { SweepOptions } from './repair-jobs.ts';

export type RepairWatchDeps = Pick<
  CoreDeps,
  'watches' | 'deliveries' | 'executions' | 'queue' | 'log' | 'now'
>;

/** Time after which a paused watch is inspected again, in seconds: it has nothing to repair. */
const pausedLeaseSeconds = 30 * 86_400;

/** Starts executions of watches that are missing, and the next generation of those whose execution ended without them. Returns the number of watches. */
export async function repairWatches(
  deps: RepairWatchDeps,
  { dueBy, limit, endBy }: SweepOptions,
): Promise<number> {
  return repairListedWatches(await deps.watches.dueForRepair(dueBy, limit), deps, { endBy });
}

/** Repairs watches that may need it. Returns the number of inspected watches. */
export function repairListedWatches(
  watchIds: readonly string[],
  deps: RepairWatchDeps,
  bounds: SweepBounds,
): Promise<number> {
  return repairRuns(watchIds, createKind(deps), deps, bounds);
}

/**
 * Repairs one watch: `ended` is its execution that has ended, if that is why. A watch never fails: a lost execution is followed by the next
 * generation.
 */
export function repairWatch(watchId: string, deps: RepairWatchDeps, ended?: EndedExecution): Promise<void> {
  return repairRun(watchId, createKind(deps), deps, ended);
}

function createKind(deps: RepairWatchDeps): RepairKind<WatchRun> {
  return {
    log: (id) => watchLog(deps.log, id),
    find: async (id) => deps.watches.getIncludingEnded(id),
    view: ({ generation, burst, next, state, lease_until, deleted_at }) => ({
      generation,
      burst,
      leaseUntil: lease_until,
      dueAt: next?.wait_until ?? lease_until,
      isIdle: deleted_at !== null || state.causes.paused !== null,
    }),
    publish: async (id) => publishRun({ run: 'watch', run_id: id }, deps.watches, deps),
    renewLease: async (stored) => renewLease(stored, deps),
    settle: async (stored) => {
      if (stored.deleted_at !== null) await purgeLater(stored, deps);
      else await renewLease(stored, deps, pausedLeaseSeconds);
    },
    recover: async (stored, { status }) => startAfterFailure(stored, `the execution was ${status}`, deps),
  };
}

/** Starts the next generation of a watch after a failure, with a wait that grows with the failures in a row. */
export async function startAfterFailure(
  watch: WatchRun,
  cause: string,
  deps: Pick<RepairWatchDeps, 'watches' | 'executions' | 'log' | 'now'>,
): Promise<void> {
  const waits = rules.watchBackoffSeconds;
  const failures = watch.state.failed_executions + 1;
  const wakeAt = addSeconds(deps.now(), waits[Math.min(failures, waits.length) - 1] ?? 1);
  const next = watch.next && {
    ...watch.next,
    done: false,
    confirming: false,
    wait_until: new Date(Math.ceil(wakeAt.getTime() / 1000) * 1000).toISOString(),
  };
  const result = await deps.watches.commit({
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
  watchLog(deps.log, watch.run_id).error('Watch restarted after a failure', { cause, generation });
  await deps.executions.start({ job_id: watch.run_id, generation });
}

async function renewLease(watch: WatchRun, deps: RepairWatchDeps, seconds = 0): Promise<boolean> {
  const result = await deps.watches.commit({
    runId: watch.run_id,
    expectedVersion: watch.version,
    set: { lease_until: leaseUntil(addSeconds(deps.now(), seconds)) },
    events: [],
  });
  return result === 'committed';
}

/** Removes a deleted watch once its last deliveries have ended, a day later at most. */
async function purgeLater(watch: WatchRun, { watches, now }: RepairWatchDeps): Promise<void> {
  if (watch.deleted_at !== null && ageSeconds(watch.deleted_at, now()) >= purgeAfterSeconds)
    await watches.purge(watch.run_id);
}
