import type { Log, LogEntry, LogFields, RecentLog } from '../../core/ports/log.ts';
import { withFields } from '../log-message.ts';
import { logLevels, type LogLevel } from './line-log.ts';

export type LogBufferOptions = {
  level: LogLevel;
  now: () => Date;
  /** Maximum entries, default 500 (interface section 4.10). */
  capacity?: number;
};

/** Creates a log that keeps its newest entries in memory until the process ends. */
export function createLogBuffer({ level, now, capacity = 500 }: LogBufferOptions): Log & RecentLog {
  const entries: LogEntry[] = [];
  const least = logLevels.indexOf(level);
  const logger = (entryLevel: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(entryLevel) < least) return;
    entries.push({
      time: now().toISOString(),
      level: shownLevels[entryLevel],
      message: withFields(message, fields),
    });
    if (entries.length > capacity) entries.shift();
  };
  return {
    debug: logger('debug'),
    info: logger('info'),
    warning: logger('warning'),
    error: logger('error'),
    entries: async () => [...entries],
    forget: async (shortId) => {
      const left = entries.filter(({ message }) => !message.includes(`:${shortId}]`));
      entries.splice(0, entries.length, ...left);
    },
  };
}

const shownLevels = { debug: 'DEBUG', info: 'INFO', warning: 'WARNING', error: 'ERROR' } as const;
