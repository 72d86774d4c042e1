import { showControls } from '../../../core/observability/redact.ts';
import type { Log, LogFields, LogEntry, RecentLog } from '../../../core/ports/observability.ts';
import { withFields } from '../../log-message.ts';

const logLevels = ['debug', 'info', 'warning', 'error'] as const;
type LogLevel = (typeof logLevels)[number];

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

export type LogBufferOptions = {
  level: LogLevel;
  now: () => Date;
  /** Maximum entries, default 500 (I-4.10.3). */
  capacity?: number;
};

/** Creates a log that keeps its newest entries in memory until the process ends. */
export function createLogBuffer({ level, now, capacity = 500 }: LogBufferOptions): Log & RecentLog {
  const entries: (LogEntry & { caller: LogFields[string] | undefined })[] = [];
  const least = logLevels.indexOf(level);
  const logger = (entryLevel: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(entryLevel) < least) return;
    entries.push({
      time: now().toISOString(),
      level: shownLevels[entryLevel],
      message: withFields(message, fields),
      caller: fields?.['caller'],
    });
    if (entries.length > capacity) entries.shift();
  };
  return {
    debug: logger('debug'),
    info: logger('info'),
    warning: logger('warning'),
    error: logger('error'),
    entries: async () => entries.map(({ time, level: shown, message }) => ({ time, level: shown, message })),
    forget: async (about) => {
      const left = entries.filter((entry) => !isAbout(entry, about));
      entries.splice(0, entries.length, ...left);
    },
  };
}

/** A message begins with the first 8 characters of an id (`[JOB:1b7f0c2e]`); fields have all of it. */
function isAbout(
  entry: { message: string; caller: LogFields[string] | undefined },
  about: { id: string } | { caller: string },
): boolean {
  if ('caller' in about) return entry.caller === about.caller;
  return entry.message.includes(about.id) || entry.message.includes(`:${about.id.slice(0, 8)}]`);
}

const shownLevels = { debug: 'DEBUG', info: 'INFO', warning: 'WARNING', error: 'ERROR' } as const;

/** Returns a log that writes every entry to each of `logs`. */
export function teeLog(...logs: Log[]): Log {
  return {
    debug: (...entry) => logs.forEach((log) => log.debug(...entry)),
    info: (...entry) => logs.forEach((log) => log.info(...entry)),
    warning: (...entry) => logs.forEach((log) => log.warning(...entry)),
    error: (...entry) => logs.forEach((log) => log.error(...entry)),
  };
}
