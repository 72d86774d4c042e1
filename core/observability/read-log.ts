import type { CoreDeps } from '../dependencies.ts';
import type { LogQuery } from '../requests/usage.ts';

/** Returns the newest entries, all or of one level, oldest first. */
export async function readLog({ level, limit }: LogQuery, deps: Pick<CoreDeps, 'recentLog'>) {
  const entries = await deps.recentLog.entries();
  const wanted = level === undefined ? entries : entries.filter((entry) => entry.level === level);
  const logs = wanted.slice(-limit);
  return { total_in_buffer: entries.length, returned: logs.length, logs };
}
