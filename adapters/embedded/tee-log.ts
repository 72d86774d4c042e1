import type { Log } from '../../core/ports/log.ts';

/** Every entry goes to each of these logs. */
export function teeLog(...logs: Log[]): Log {
  return {
    debug: (...entry) => logs.forEach((log) => log.debug(...entry)),
    info: (...entry) => logs.forEach((log) => log.info(...entry)),
    warning: (...entry) => logs.forEach((log) => log.warning(...entry)),
    error: (...entry) => logs.forEach((log) => log.error(...entry)),
  };
}
