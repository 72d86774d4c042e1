import type { WatchRun } from '../records/watch-run.ts';
import type { WatchDeps } from './watch-deps.ts';

/** Starts the current generation of a watch. Logs a failure and never throws: `reconcile` starts it then. */
export async function startQuietly(
  watch: WatchRun,
  { executions, log }: Pick<WatchDeps, 'executions' | 'log'>,
): Promise<void> {
  const { generation } = watch;
  try {
    await executions.start({ run_id: watch.run_id, generation });
  } catch (error) {
    log.warning('Execution of a watch not started yet; reconcile starts it', {
      watch_id: watch.run_id,
      generation,
      error: String(error),
    });
  }
}
