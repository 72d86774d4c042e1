import type { DatabaseSync } from 'node:sqlite';
import { type RunStore, purgeAfterSeconds, type RunChange } from '../../../core/ports/runs.ts';
import {
  isGone,
  isPurgeable,
  applyRunChange,
  eventExpiry,
  newestDelivered,
  retentionDays,
} from '../../../core/event/stored-run.ts';
import type { Run, RunEvent } from '../../../core/records/run.ts';
import { addSeconds } from '../../../core/time.ts';
import { callerSignal } from '../../../core/watch/watch-logs.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import type { RunTables } from './run-tables.ts';
import { transaction, withoutFlush, withStorageErrors } from '../sqlite/transaction.ts';
import type { AlertChange } from '../../../core/records/watch-state.ts';
import { changeAlert, sumByHour } from '../../../core/watch/stored-watch.ts';
import { type Log, runLog } from '../../../core/ports/observability.ts';

/** Called with the id of a log that has grown. */
export type Notify = (logId: string) => void;

/**
 * Creates the store of runs of the embedded mode. A commit resolves when the data is on disk. Commits of ticks that end
 * together wait for the disk once. Throws `TransientError`, and `StorageError` for an unreadable record.
 */
export function createRunStore(database: DatabaseSync, tables: RunTables, notify: Notify): RunStore {
  const { runs, events, sources, secrets, alerts } = tables;
  const commitInGroup = groupCommits(database);
  return {
    get: async (runId, now) => {
      const run = withStorageErrors(() => runs.find(runId)?.run);
      return run === undefined || isGone(run, now) ? undefined : run;
    },
    getIncludingEnded: async (runId) => withStorageErrors(() => runs.find(runId)?.run),
    commit: async (change) => {
      const { result, grown } = await commitInGroup(() => {
        const committed = commitChange(tables, change);
        const hasGrown = change.events.length > 0 && committed === 'committed';
        return { result: committed, grown: hasGrown ? runs.find(change.runId)?.run : undefined };
      });
      if (grown) wakeReaders(grown, notify);
      return result;
    },
    events: async (runId, after, limit, now) =>
      withStorageErrors(() => events.after(runId, after, limit, now)),
    event: async (runId, sequence) => withStorageErrors(() => events.find(runId, sequence)),
    // Events whose mark a power loss takes back are published again.
    markPublished: async (runId, sequence) =>
      withoutFlush(database, () => runs.markPublished(runId, sequence)),
    source: async (sourceId) => withStorageErrors(() => sources.find(sourceId)),
    secrets: async (runId) => withStorageErrors(() => secrets.find(runId)),
    alert: async (alertId, now) => withStorageErrors(() => alerts.find(alertId, now)),
    dueForRepair: async (now, limit) =>
      withStorageErrors(() => {
        // Lost runs come first, so that an unreachable receiver cannot crowd them out.
        const due = new Set(runs.due(now, limit));
        const purgeBefore = addSeconds(now, -purgeAfterSeconds);
        for (const { run_id: id } of runs.goneBy(purgeBefore, limit, ['watch'])) due.add(id);
        return [...due].slice(0, limit);
      }),
    purge: async (runId) =>
      transaction(database, () => {
        const run = runs.find(runId)?.run;
        if (run && isPurgeable(run)) tables.removeRun(runId);
      }),
  };
}

/** Wakes readers of the log of a run, and of those of all watches of its caller. */
export function wakeReaders({ run_id: runId, policy, caller }: Run, notify: Notify): void {
  notify(runId);
  if (policy === 'watch') notify(callerSignal(caller));
}

/** Stores a new run with its first events. The caller holds the transaction. */
export function insertRun(tables: RunTables, run: Run, events: readonly RunEvent[]): void {
  tables.runs.insert(run, newestDelivered(events, 0));
  for (const event of events) insertEvent(tables, event, run);
}

/** Commits a change of a run with all that belongs to it. The caller holds the transaction. */
function commitChange(tables: RunTables, change: RunChange): 'committed' | 'outdated' {
  const {
    runId,
    events,
    meta,
    source,
    secrets,
    alerts = [],
    moments = [],
    hours,
    releasesSlotOf,
    totalsDelta,
  } = change;
  const stored = tables.runs.find(runId);
  if (stored?.run.version !== change.expectedVersion) return 'outdated';
  const after = applyRunChange(stored.run, change);
  tables.runs.update(after, newestDelivered(events, stored.unpublished), meta !== undefined);
  for (const event of events) insertEvent(tables, event, after);
  if (source) tables.sources.put(source);
  if (secrets) tables.secrets.put(secrets);
  for (const alert of alerts) commitAlert(tables, alert);
  for (const moment of moments) tables.moments.add(moment);
  for (const addition of sumByHour(hours)) tables.hours.add(runId, addition);
  if (releasesSlotOf !== undefined) tables.slots.free(releasesSlotOf, runId);
  if (totalsDelta) tables.totals.add(totalsDelta);
  // It contains credentials. An ended job keeps its own for as long as it can be run again.
  if (after.policy === 'watch' && after.deleted_at !== null) tables.sources.remove(after.source_id);
  return 'committed';
}

function insertEvent({ events }: RunTables, event: RunEvent, run: Run): void {
  events.insert(event, run.policy === 'watch' ? run.caller : null, eventExpiry(event, retentionDays(run)));
}

/** A change of an alert that has expired has no effect. */
function commitAlert({ alerts }: RunTables, change: AlertChange): void {
  if (change.kind === 'open') return alerts.put(change.alert);
  const alert = alerts.find(change.alertId, new Date(0));
  if (alert !== undefined) alerts.put(changeAlert(alert, change));
}

/**
 * Returns a function that returns the log of a run, which names its kind: that of a job if the database has none or
 * cannot be read.
 */
export function createRunLog(database: DatabaseSync, log: Log): (runId: string) => Log {
  const watch = database.prepare("SELECT 1 FROM runs WHERE run_id = ? AND policy = 'watch'");
  const isWatch = (runId: string): boolean => {
    try {
      return watch.get(runId) !== undefined;
    } catch {
      return false;
    }
  };
  return (runId) => runLog(log, { run: isWatch(runId) ? 'watch' : 'job', run_id: runId });
}
