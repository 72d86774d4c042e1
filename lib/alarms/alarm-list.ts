import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { StageSettings } from '../stage/stage-settings.ts';
import type { ServiceMetrics } from './service-metrics.ts';

export type Watched = {
  metrics: ServiceMetrics;
  deliveries: Queue;
  deadLetters: Queue;
  lostHints: Queue;
  settings: Pick<StageSettings, 'failedJobsAlarm'>;
};

/** `name` in kebab-case is the section of `docs/runbook.md`. */
export type AlarmSpec = {
  name: string;
  /** What has happened, for whoever is woken by it. */
  says: string;
  metric: IMetric;
  threshold: number;
  periods?: number;
  below?: true;
};

const minutes = (count: number) => ({ period: Duration.minutes(count) });

/** What somebody has to look at, each with the number from which on it is no accident any more. */
export function alarmList({ metrics, deliveries, deadLetters, lostHints, settings }: Watched): AlarmSpec[] {
  const visible = (queue: Queue) =>
    queue.metricApproximateNumberOfMessagesVisible({ ...minutes(5), statistic: 'Maximum' });
  return [
    {
      name: 'dead-letters',
      says: 'Webhook messages could not be handled for an hour',
      metric: visible(deadLetters),
      threshold: 1,
    },
    {
      name: 'oldest-delivery',
      says: 'A webhook message has waited for half an hour',
      // A series with a patient Retry-After takes a quarter of an hour; what waits behind it is older.
      metric: deliveries.metricApproximateAgeOfOldestMessage({ ...minutes(5), statistic: 'Maximum' }),
      threshold: 1800,
      periods: 3,
    },
    {
      name: 'failed-jobs',
      says: 'Jobs failed',
      metric: metrics.own('JobsFailed', minutes(15)),
      threshold: settings.failedJobsAlarm,
    },
    {
      name: 'model-errors',
      says: 'A tenth of the calls of the model failed',
      metric: metrics.modelErrorPercent(minutes(15)),
      threshold: 10,
    },
    {
      name: 'model-throttles',
      says: 'The model refused calls for their number',
      metric: metrics.own('ModelThrottles', minutes(5)),
      threshold: 10,
      periods: 3,
    },
    {
      name: 'function-throttles',
      says: 'Lambda refused calls of functions for their number',
      metric: metrics.functionThrottles(minutes(5)),
      threshold: 10,
    },
    {
      name: 'function-errors',
      says: 'Functions ended with errors',
      metric: metrics.functionErrors(minutes(5)),
      threshold: 5,
      periods: 2,
    },
    {
      name: 'executions-failed',
      says: 'Executions of the workflow failed or timed out',
      metric: metrics.executionsFailed(minutes(5)),
      threshold: 1,
    },
    {
      name: 'reconcile-repairs',
      says: 'What should have happened by itself had to be repaired',
      metric: metrics.own('Repairs', minutes(15)),
      threshold: 10,
    },
    {
      name: 'reconcile-silent',
      says: 'Nobody has looked for jobs to repair for five minutes',
      metric: metrics.reconcileRuns(minutes(5)),
      threshold: 1,
      below: true,
    },
    {
      name: 'reconcile-dead-letters',
      says: 'Calls of reconcile failed to the last',
      metric: visible(lostHints),
      threshold: 1,
    },
    {
      name: 'api-faults',
      says: 'The HTTP API answered 5xx',
      metric: metrics.apiFaults(minutes(5)),
      threshold: 5,
    },
  ];
}

/** Silence is health, but for what has to be heard of. */
export function comparisonOf({ below }: AlarmSpec) {
  return below
    ? {
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      }
    : {
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      };
}
