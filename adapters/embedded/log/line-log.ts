import { showControls } from '../../../core/observability/redact.ts';
import type { Log, LogFields } from '../../../core/ports/observability.ts';

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export type LineLogOptions = {
  level: LogLevel;
  now: () => Date;
  /** Writes one line, given without its line break. */
  write: (line: string) => void;
  /** True for human-readable lines, false for one JSON object per line. */
  humanReadable: boolean;
};

/** Creates the log of the embedded service: one line per entry. */
export function createLineLog({ level, now, write, humanReadable }: LineLogOptions): Log {
  const least = logLevels.indexOf(level);
  const logger = (entryLevel: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(entryLevel) < least) return;
    const line = humanReadable
      ? lineFor(entryLevel, message, fields, now())
      : JSON.stringify(entryFor(entryLevel, message, fields, now()));
    write(showControls(line));
  };
  return { debug: logger('debug'), info: logger('info'), warning: logger('warning'), error: logger('error') };
}

/** Puts time, level and message first; fields cannot overwrite them. */
function entryFor(level: LogLevel, message: string, fields: LogFields | undefined, time: Date): object {
  const entry = { time: time.toISOString(), level: level.toUpperCase(), message };
  return Object.assign({ ...entry }, fields, entry);
}

function lineFor(level: LogLevel, message: string, fields: LogFields | undefined, written: Date): string {
  const time = written.toISOString().slice(11, 19);
  const details = Object.entries(fields ?? {})
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${String(value)}`);
  // A line that a text from elsewhere begins is indented, so that it looks like no entry.
  return [time, level.toUpperCase().padEnd(7), message, ...details].join('  ').replaceAll('\n', '\n    ');
}
