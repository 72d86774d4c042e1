/** What is measured for operators, beside the counters that callers see: names and units of the metrics that dashboards and alarms use. */
export const metricUnits = {
  ModelCalls: 'Count',
  /** Calls that gave no answer, throttled ones too. */
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
  /** Ticks that were committed, skipped ones too. */
  Ticks: 'Count',
  FramesSkipped: 'Count',
  Triggers: 'Count',
  /** Series of attempts that ended with an answer of 2xx, and those that were given up. */
  DeliveriesDone: 'Count',
  DeliveriesFailed: 'Count',
  /** What `reconcile` had to make up for: executions started, events published, jobs failed. */
  Repairs: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

export interface MetricsSink {
  /** Never throws: nothing that is measured fails for it. Default 1. */
  add(name: MetricName, value?: number): void;
}
