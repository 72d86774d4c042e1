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

/** Names and units of the metrics for operators, which dashboards and alarms use. Callers see job counters instead. */
export const metricUnits = {
  ModelCalls: 'Count',
  /** Failed model calls, including throttled ones. */
  ModelErrors: 'Count',
  ModelThrottles: 'Count',
  ModelLatency: 'Milliseconds',
  InputTokens: 'Count',
  OutputTokens: 'Count',
  CapturesTaken: 'Count',
  CaptureErrors: 'Count',
  CaptureLatency: 'Milliseconds',
  JobsStarted: 'Count',
  JobsCompleted: 'Count',
  JobsStopped: 'Count',
  JobsFailed: 'Count',
  /** Committed ticks, including skipped captures. */
  Ticks: 'Count',
  /** Ticks that began later than `lateTickSeconds` after their planned time. */
  LateTicks: 'Count',
  /** Bursts of ticks that the service cut before their planned end. */
  BurstsCut: 'Count',
  /** Watches that are not paused and not off schedule but see no stream or have no budget, every five minutes. */
  WatchesBlind: 'Count',
  /** Watches whose checks are late or fail, every five minutes. */
  WatchesLate: 'Count',
  /** Watches with a destination that fails, every five minutes. */
  WatchesUnheard: 'Count',
  FramesSkipped: 'Count',
  Triggers: 'Count',
  /** Series of attempts that ended with a 2xx response, and those that failed. */
  DeliveriesDone: 'Count',
  DeliveriesFailed: 'Count',
  /** Time from the planned start of an attempt to its start. */
  DeliveryLateness: 'Seconds',
  /** Events that the event bus accepted, and failed attempts to put one. */
  BusEvents: 'Count',
  BusErrors: 'Count',
  /** Opened event streams. */
  EventStreams: 'Count',
  /** Event streams that are open at the moment, once per minute. */
  OpenEventStreams: 'Count',
  /** Tokens of a caller since midnight (UTC), input and output, and their list price in US dollars. */
  TokensToday: 'Count',
  CostUsdToday: 'None',
  /** New searches in moments, their model calls and the list price of these in US dollars. */
  Searches: 'Count',
  SearchModelCalls: 'Count',
  SearchCostUsd: 'None',
  /** Moments that could not be stored, of ticks that could. */
  MomentsDropped: 'Count',
  /** Repairs by `reconcile`: executions started, events published, jobs failed. */
  Repairs: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

export interface MetricsSink {
  /**
   * Adds `value`, default 1, to the metric of the deployment, or of one caller. Never throws, so that a measured
   * operation never fails because of the metric.
   */
  add(name: MetricName, value?: number, caller?: string): void;
}

/** Memory that the caches of one name hold in this process, and may hold. */
export type CacheUse = { cache: string; bytes: number; maxBytes: number };

/** Media of one machine, and what went before its time so that they fit. */
export type MediaUse = {
  /** Bytes at the last count; `null` before it. */
  bytes: number | null;
  /** `null` if nothing bounds them. */
  max_bytes: number | null;
  /** Pictures and clips of alerts that were removed before the end of their retention. */
  evidence_removed: number;
  evidence_removed_at: Date | null;
};

export const alarmSchema = z.object({
  name: z.string(),
  /** `unknown`: the alarm has no data. */
  state: z.enum(['ok', 'alarm', 'unknown']),
  /** Condition and remediation; in the state `alarm` also the measured values. */
  description: z.string(),
  /** Time of the last change of state; `null` if unknown. */
  since: z.iso.datetime().nullable(),
});
export type Alarm = z.infer<typeof alarmSchema>;

/** Source of alarms that are evaluated outside of the service. */
export interface AlarmReader {
  list(): Promise<Alarm[]>;
}

/**
 * Result of one check of the service itself. `message` and `next` are readable without a key, so neither holds a path,
 * a URL or an address; `detail` may, and stays on the machine.
 */
export type Finding = {
  /** Subject: `ffmpeg`, `model`, `disk`, `media`, `clock`, `ports`, `guard`, `streams`, `load`, `watches`. */
  check: string;
  /** `pending`: no result yet. `warning`: works, with a risk. `failed`: does not work. */
  status: 'ok' | 'pending' | 'warning' | 'failed';
  message: string;
  /** Next step for the operator; null if no step is needed. */
  next: string | null;
  detail?: string;
};

export function about(check: string) {
  const create = (
    status: Finding['status'],
    message: string,
    next: string | null,
    detail?: string,
  ): Finding => ({
    check,
    status,
    message,
    next,
    ...(detail !== undefined && { detail }),
  });
  return {
    ok: (message: string, detail?: string) => create('ok', message, null, detail),
    pending: (message: string) => create('pending', message, null),
    warning: (message: string, next: string | null, detail?: string) =>
      create('warning', message, next, detail),
    failed: (message: string, next: string | null, detail?: string) =>
      create('failed', message, next, detail),
  };
}

/** Reader of the checks of a running service. */
export interface HealthReader {
  read(): Promise<Finding[]>;
}

const ranks = { ok: 0, pending: 0, warning: 1, failed: 2 } as const;

/** Returns the worst status of all findings; `pending` counts as `ok`. */
export function worstStatus(findings: readonly Finding[]): 'ok' | 'warning' | 'failed' {
  const worst = Math.max(0, ...findings.map(({ status }) => ranks[status]));
  return worst === 2 ? 'failed' : worst === 1 ? 'warning' : 'ok';
}
