import type { Log } from '../ports/log.ts';
import type { WatchRun } from '../records/watch-run.ts';

/**
 * Removes pictures of a watch that was deleted or changed. Media that cannot be removed now expire with their
 * retention.
 */
export async function removeQuietly(
  { run_id: watchId }: WatchRun,
  remove: () => Promise<unknown>,
  { log }: { log: Log },
): Promise<void> {
  try {
    await remove();
  } catch (error) {
    log.warning('Pictures of a watch not removed yet', { watch_id: watchId, error: String(error) });
  }
}
