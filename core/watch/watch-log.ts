import type { Log } from '../ports/log.ts';

/** Returns a log that adds the prefix `[WATCH:<first 8 characters of its id>]` to each message. */
export function watchLog(log: Log, watchId: string): Log {
  const prefix = `[WATCH:${watchId.slice(0, 8)}]`;
  return {
    debug: (message, fields) => log.debug(`${prefix} ${message}`, fields),
    info: (message, fields) => log.info(`${prefix} ${message}`, fields),
    warning: (message, fields) => log.warning(`${prefix} ${message}`, fields),
    error: (message, fields) => log.error(`${prefix} ${message}`, fields),
  };
}
