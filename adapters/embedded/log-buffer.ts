import type { Log, LogEntry, LogFields, RecentLog } from '../../core/ports/log.ts';
import { logLevels, type LogLevel } from './line-log.ts';

export type LogBufferOptions = {
  level: LogLevel;
  now: () => Date;
  /** The contract's 500 (interface section 4.10). */
  capacity?: number;
};

/** The newest entries in memory, gone with the process. */
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
  };
}

const shownLevels = { debug: 'DEBUG', info: 'INFO', warning: 'WARNING', error: 'ERROR' } as const;

/** A stack trace is long; 500 of these stay below a megabyte. */
const messageCharacters = 2_000;

/** An entry of the contract has a message and nothing else, so fields follow it as `name=value`. */
function withFields(message: string, fields: LogFields = {}): string {
  const details = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ` ${name}=${quoted(value)}`);
  return `${message}${details.join('')}`.slice(0, messageCharacters);
}

function quoted(value: LogFields[string]): string {
  const text = String(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
