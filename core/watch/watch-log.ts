import { runLog } from '../ports/log.ts';
import type { Log } from '../ports/log.ts';

/** Returns a log that adds the prefix `[WATCH:<first 8 characters of its id>]` to each message. */
export function watchLog(log: Log, watchId: string): Log {
  return runLog(log, { run: 'watch', run_id: watchId });
}
