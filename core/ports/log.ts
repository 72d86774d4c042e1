import { z } from 'zod';

/** Fields hold no secret: URLs are masked before they come here. */
export type LogFields = Record<string, string | number | boolean | null>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Messages about a job carry `[JOB:<first 8 characters of its id>]` (interface section 2.11). */
export function jobLog(log: Log, jobId: string): Log {
  const prefix = `[JOB:${jobId.slice(0, 8)}]`;
  return {
    debug: (message, fields) => log.debug(`${prefix} ${message}`, fields),
    info: (message, fields) => log.info(`${prefix} ${message}`, fields),
    warning: (message, fields) => log.warning(`${prefix} ${message}`, fields),
    error: (message, fields) => log.error(`${prefix} ${message}`, fields),
  };
}

export const logLevelSchema = z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR']);

/** An entry as `/logs` shows it (interface section 2.11). */
export type LogEntry = { time: string; level: z.infer<typeof logLevelSchema>; message: string };

export interface RecentLog {
  /** The newest entries that are kept (500), oldest first. */
  entries(): Promise<LogEntry[]>;
}
