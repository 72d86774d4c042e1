import type { DatabaseSync } from 'node:sqlite';
import { type Log, runLog } from '../../../core/ports/observability.ts';

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
