import type { Log } from '../../../core/ports/log.ts';

/** Returns a log that writes every entry to each of `logs`. */
export function teeLog(...logs: Log[]): Log {
  return {
    debug: (...entry) => logs.forEach((log) => log.debug(...entry)),
    info: (...entry) => logs.forEach((log) => log.info(...entry)),
    warning: (...entry) => logs.forEach((log) => log.warning(...entry)),
    error: (...entry) => logs.forEach((log) => log.error(...entry)),
  };
}
