import type { StoredWatch } from '../ports/watch-store.ts';
import type { WatchDeps } from './watch-deps.ts';

/** Starts the current generation of a watch. Logs a failure and never throws: `reconcile` starts it then. */
export async function startQuietly(
  { watch, run }: StoredWatch,
  { executions, log }: Pick<WatchDeps, 'executions' | 'log'>,
): Promise<void> {
  const { generation } = run;
  try {
    await executions.start({ job_id: watch.watch_id, generation });
  } catch (error) {
    log.warning('Execution of a watch not started yet; reconcile starts it', {
      watch_id: watch.watch_id,
      generation,
      error: String(error),
    });
  }
}
