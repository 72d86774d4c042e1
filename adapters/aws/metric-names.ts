/**
 * What the functions count by CloudWatch's embedded metric format, and what dashboard and alarms read: named once, since an alarm
 * on a name that nobody emits is silent for ever. The one dimension is `service`, which the stack sets to its own name for
 * all functions (`POWERTOOLS_SERVICE_NAME`): each series is one number of a deployment, and each further dimension would be billed as another.
 */
export const metricNamespace = 'Watchpost';
export const metricDimension = 'service';

/** Each is a count. */
export const metricNames = {
  jobsStarted: 'JobsStarted',
  /** Ended with the status `failed`, whatever the reason. */
  jobsFailed: 'JobsFailed',
  /** Ticks that were committed, skipped ones included. */
  ticks: 'Ticks',
  framesSkipped: 'FramesSkipped',
  captureFailures: 'CaptureFailures',
  triggers: 'Triggers',
  modelCalls: 'ModelCalls',
  /** Calls without a usable answer, throttled ones included. */
  modelErrors: 'ModelErrors',
  modelThrottles: 'ModelThrottles',
  inputTokens: 'InputTokens',
  outputTokens: 'OutputTokens',
  webhooksDelivered: 'WebhooksDelivered',
  /** Given up after the last attempt. */
  webhooksFailed: 'WebhooksFailed',
  /** Executions started, jobs failed and events published that should have been by then. */
  reconcileRepairs: 'ReconcileRepairs',
} as const;

export type MetricName = (typeof metricNames)[keyof typeof metricNames];
