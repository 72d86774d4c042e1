import { z } from 'zod';
import { apiNames } from '../api-names.ts';

/** Fields of a log line. They hold no secrets: URLs are masked before. */
export type LogFields = Record<string, string | number | boolean | null>;

/** Log of the service: a message in the past tense, with the data in fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Returns a log that adds the prefix `[JOB:<first 8 characters of its id>]` to each message. */
export function jobLog(log: Log, jobId: string): Log {
  return runLog(log, { run: 'job', run_id: jobId });
}

/**
 * Returns a log that adds the kind and the first 8 characters of the id of a run to each message. A watch has its name
 * in a field.
 */
export function runLog(
  log: Log,
  { run, run_id: id, name }: { run: 'job' | 'watch'; run_id: string; name?: string },
): Log {
  const to = (level: keyof Log) => (message: string, fields?: LogFields) =>
    log[level](
      `[${run.toUpperCase()}:${id.slice(0, 8)}] ${message}`,
      name === undefined ? fields : { watch: name, ...fields },
    );
  return { debug: to('debug'), info: to('info'), warning: to('warning'), error: to('error') };
}

export const logLevelSchema = z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR']);
apiNames.add(logLevelSchema, { id: 'LogLevel' });

export type LogEntry = { time: string; level: z.infer<typeof logLevelSchema>; message: string };

/** Buffer of the newest log entries. */
export interface RecentLog {
  /** Returns at most 500 entries, oldest first. */
  entries(): Promise<LogEntry[]>;
  /**
   * Removes the entries about a job or a watch, or those that name a caller. Absent where entries expire on their own.
   */
  forget?(about: { id: string } | { caller: string }): Promise<void>;
}
