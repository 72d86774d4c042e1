import type { DatabaseSync } from 'node:sqlite';
import { type RunStore, purgeAfterSeconds } from '../../../core/ports/runs.ts';
import { isGone, isPurgeable } from '../../../core/event/stored-run.ts';
import type { Run } from '../../../core/records/run.ts';
import { addSeconds } from '../../../core/time.ts';
import { callerSignal } from '../../../core/watch/watch-logs.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import { commitChange } from './run-commit.ts';
import type { RunTables } from './run-tables.ts';
import { transaction, withoutFlush, withStorageErrors } from '../sqlite/transaction.ts';

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
