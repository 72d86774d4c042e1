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
