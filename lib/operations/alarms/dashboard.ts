import { AlarmStatusWidget, Dashboard, GraphWidget, LogQueryWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarm, IMetric, IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { MetricName } from '../../../core/ports/observability.ts';
import type { ServiceMetrics } from './service-metrics.ts';

type Props = {
  metrics: ServiceMetrics;
  alarms: Alarm[];
  deliveries: Queue;
  deadLetters: Queue;
  log: ILogGroup;
};

/** CloudWatch dashboard: effects on callers at the top, infrastructure below. */
export class ServiceDashboard extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { metrics, deliveries, deadLetters } = props;
    const counts = (...names: MetricName[]) => names.map((name) => metrics.own(name));
    new Dashboard(this, 'Dashboard', {
      widgets: [
        [new AlarmStatusWidget({ title: 'Alarms', width: 24, alarms: props.alarms })],
        [
          graph('Jobs', counts('JobsStarted', 'JobsCompleted', 'JobsStopped', 'JobsFailed')),
          graph('Checks', counts('Ticks', 'FramesSkipped', 'Triggers')),
          graph('Webhooks', counts('DeliveriesDone', 'DeliveriesFailed')),
        ],
        [
          graph('Model', counts('ModelCalls', 'ModelErrors', 'ModelThrottles')),
          graph('Tokens', counts('InputTokens', 'OutputTokens')),
          graph('Latency, 90th percentile', counts('ModelLatency', 'CaptureLatency')),
        ],
        [
          graph('Captures', counts('CapturesTaken', 'CaptureErrors')),
          graph('Queued messages', [
            deliveries.metricApproximateNumberOfMessagesVisible(),
            deadLetters.metricApproximateNumberOfMessagesVisible(),
          ]),
          graph('Lateness of deliveries', [metrics.own('DeliveryLateness', { statistic: 'Maximum' })]),
        ],
        [
          graph('HTTP API', [metrics.apiRequests(), metrics.apiFaults()]),
          graph('Executions', [metrics.executionsStarted(), metrics.executionsFailed()]),
          graph('Repairs', counts('Repairs')),
          graph(
            'Watches in trouble',
            (['WatchesBlind', 'WatchesLate', 'WatchesUnheard'] as const).map((name) =>
              metrics.own(name, { statistic: 'Maximum' }),
            ),
          ),
          graph('Memory', counts('Searches', 'SearchModelCalls', 'SearchCostUsd', 'MomentsDropped')),
          graph('Event streams', [
            metrics.own('EventStreams'),
            metrics.own('OpenEventStreams', { statistic: 'Maximum' }),
          ]),
        ],
        [
          graph('Functions', [metrics.functionErrors(), metrics.functionThrottles()]),
          graph('Functions: duration', metrics.durations()),
          graph('Functions: concurrency', metrics.concurrency()),
        ],
        [newestErrors(props.log)],
      ],
    });
  }
}

function graph(title: string, left: IMetric[]): IWidget {
  return new GraphWidget({ title, left, width: 8, height: 6, leftYAxis: { min: 0 } });
}

function newestErrors(log: ILogGroup): IWidget {
  return new LogQueryWidget({
    title: 'Newest errors',
    width: 24,
    logGroupNames: [log.logGroupName],
    queryLines: [
      'fields @timestamp, message, fields.error',
      'filter level = "ERROR"',
      'sort @timestamp desc',
      'limit 50',
    ],
  });
}
