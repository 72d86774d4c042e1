import { Stack, Validations, Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { serviceKey } from '../../storage/service-key.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';
import { serviceName } from '../../function/service-name.ts';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { rules } from '../../../core/rules.ts';
import type { ServiceMetrics } from './service-metrics.ts';

type Props = AlarmSources & {
  settings: AlarmSources['settings'] & Pick<StageSettings, 'alarmEmail' | 'alarmTopicArn' | 'runbookUrl'>;
};

/** Alarms of the service, which publish to one topic and link to their section of the runbook. */
export class ServiceAlarms extends Construct {
  readonly alarms: Alarm[];
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { alarmTopicArn, runbookUrl } = props.settings;
    this.topic =
      alarmTopicArn === undefined
        ? this.#createTopic(props.settings)
        : Topic.fromTopicArn(this, 'Topic', alarmTopicArn);
    this.alarms = alarmList(props).map((spec) => this.#alarm(spec, runbookUrl));
  }

  #createTopic({ alarmEmail }: Props['settings']): Topic {
    // Without a key of the app, not encrypted: CloudWatch cannot use the AWS managed key of SNS, and alarms contain no
    // secrets.
    const key = serviceKey(this);
    const topic = new Topic(this, 'Topic', {
      displayName: 'Watchpost alarms',
      enforceSSL: true,
      ...(key && { masterKey: key }),
    });
    topic.addToResourcePolicy(fromOurAlarms(topic));
    if (alarmEmail === undefined) return topic;
    topic.addSubscription(new EmailSubscription(alarmEmail));
    Validations.of(topic).acknowledge({
      id: 'Serverless-SNSRedrivePolicy',
      reason: 'Email delivery has no redrive; CloudWatch keeps the state of the alarm.',
    });
    return topic;
  }

  #alarm(spec: AlarmSpec, runbookUrl: string): Alarm {
    const alarm = new Alarm(this, pascal(spec.name), {
      alarmName: `${alarmPrefix(this)}${spec.name}`,
      metric: spec.metric,
      threshold: spec.threshold,
      evaluationPeriods: spec.periods ?? 1,
      alarmDescription: `${spec.headline}. What to do: ${runbookUrl}#${spec.name}`,
      ...comparisonFor(spec),
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
    return alarm;
  }
}

/** Permits CloudWatch to publish: an own policy replaces the default policy of the topic, which would permit it. */
function fromOurAlarms(topic: Topic): PolicyStatement {
  const { account } = Stack.of(topic);
  return new PolicyStatement({
    sid: 'AllowAlarms',
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['sns:Publish'],
    resources: [topic.topicArn],
    conditions: { StringEquals: { 'aws:SourceAccount': account } },
  });
}

function pascal(name: string): string {
  return name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the name prefix of the alarms of a deployment. It ends in a slash, so that it is no prefix of another one's
 * name.
 */
export function alarmPrefix(scope: Construct): string {
  return `${serviceName(scope)}/`;
}

/** Resources that the alarms monitor. */
type AlarmSources = {
  metrics: ServiceMetrics;
  deliveries: Queue;
  deadLetters: Queue;
  reconcileDeadLetters: Queue;
  settings: Pick<StageSettings, 'eventBus' | 'accountConcurrency' | 'modelTokensPerMinute'>;
};

/** Alarm; its `name` in kebab-case is a section of `docs/operate/runbook.md`. */
type AlarmSpec = {
  name: string;
  /** Description of the event for the operator on call, without a period. */
  headline: string;
  metric: IMetric;
  threshold: number;
  periods?: number;
  below?: true;
};

const minutes = (count: number) => ({ period: Duration.minutes(count) });

/** Returns the alarms that require an operator, with their thresholds. */
function alarmList(sources: AlarmSources): AlarmSpec[] {
  const { metrics, settings } = sources;
  return [
    ...deliveryAlarms(sources),
    ...modelAlarms(sources),
    ...functionAlarms(sources),
    ...tickAlarms(sources),
    ...repairAlarms(sources),
    ...busAlarms(metrics, settings),
    ...quotaAlarms(metrics, settings),
  ];
}

function visible(queue: Queue): IMetric {
  return queue.metricApproximateNumberOfMessagesVisible({ ...minutes(5), statistic: 'Maximum' });
}

function deliveryAlarms({ metrics, deliveries, deadLetters }: AlarmSources): AlarmSpec[] {
  return [
    {
      name: 'dead-letters',
      headline: 'Delivery messages could not be handled for an hour, whatever their receivers respond',
      metric: visible(deadLetters),
      threshold: 1,
    },
    {
      name: 'overdue-deliveries',
      headline: 'Webhook attempts start 10 minutes later than planned',
      // The age of a message would count waits that are planned.
      metric: metrics.deliveryLatenessSeconds(visible(deliveries), minutes(5)),
      threshold: 600,
      periods: 2,
    },
  ];
}

/** Failed jobs within 15 minutes below which their alarm is silent. */
const minFailedJobs = 5;

function modelAlarms({ metrics }: AlarmSources): AlarmSpec[] {
  return [
    {
      name: 'failed-jobs',
      headline: '5 % of the jobs that ended have failed',
      metric: metrics.ownPercent(
        'JobsFailed',
        ['JobsFailed', 'JobsCompleted', 'JobsStopped'],
        minFailedJobs,
        minutes(15),
      ),
      threshold: 5,
    },
    {
      name: 'model-errors',
      headline: '10 % of model calls failed',
      metric: metrics.modelErrorPercent(minutes(15)),
      threshold: 10,
    },
    {
      name: 'model-throttles',
      headline: '5 % of model calls were throttled',
      metric: metrics.ownPercent('ModelThrottles', ['ModelCalls'], 10, minutes(5)),
      threshold: 5,
      periods: 3,
    },
  ];
}

function functionAlarms({ metrics }: AlarmSources): AlarmSpec[] {
  return [
    {
      name: 'function-throttles',
      headline: '1 % of function invocations were throttled',
      metric: metrics.functionPercent('Throttles', 10, minutes(5)),
      threshold: 1,
    },
    {
      name: 'function-errors',
      headline: '1 % of function invocations failed',
      metric: metrics.functionPercent('Errors', 5, minutes(5)),
      threshold: 1,
      periods: 2,
    },
    {
      name: 'dropped-invocations',
      headline: 'Lambda took messages of functions to each other for an endless loop, and dropped them',
      metric: metrics.droppedInvocations(minutes(5)),
      threshold: 1,
    },
    {
      name: 'api-faults',
      headline: '1 % of the responses of the HTTP API were 5xx',
      metric: metrics.apiFaultPercent(5, minutes(5)),
      threshold: 1,
    },
    {
      name: 'stream-faults',
      headline: '1 % of the responses of the origin of event streams and checks were 5xx',
      // A 5xx that the app returns is no error of the function.
      metric: metrics.streamFaultPercent(5, minutes(5)),
      threshold: 1,
    },
    {
      name: 'table-throttles',
      headline: 'Requests to the table were throttled, one for 100 ticks',
      metric: metrics.tableThrottlePercent(10, minutes(5)),
      threshold: 1,
    },
  ];
}

function tickAlarms({ metrics }: AlarmSources): AlarmSpec[] {
  return [
    {
      name: 'executions-failed',
      headline: '1 % of workflow executions failed or timed out',
      metric: metrics.executionsFailedPercent(1, minutes(5)),
      threshold: 1,
    },
    {
      name: 'failed-bursts',
      headline: '5 % of bursts of ticks failed or timed out',
      metric: metrics.burstsFailedPercent(3, minutes(15)),
      threshold: 5,
    },
    {
      name: 'cut-bursts',
      headline: 'Step Functions cuts bursts of ticks, which are shorter for a day',
      metric: metrics.own('BurstsCut', minutes(15)),
      threshold: rules.cutsToShorten,
    },
    {
      name: 'dropped-moments',
      headline: 'Judged pictures could not be stored in the memory of their watches',
      metric: metrics.own('MomentsDropped', minutes(15)),
      threshold: 1,
    },
    {
      name: 'throttled-transitions',
      headline: 'State transitions of the account were throttled',
      metric: metrics.throttledTransitions(minutes(5)),
      threshold: 10,
      periods: 2,
    },
    {
      name: 'late-ticks',
      headline: '1 % of ticks began a minute later than planned',
      metric: metrics.tickPercent('LateTicks', 10, minutes(15)),
      threshold: 1,
    },
    {
      name: 'late-watches',
      headline: 'Watches check late, or their model calls fail',
      metric: metrics.own('WatchesLate', { ...minutes(5), statistic: 'Maximum' }),
      threshold: 1,
      periods: 2,
    },
  ];
}

function repairAlarms({ metrics, reconcileDeadLetters }: AlarmSources): AlarmSpec[] {
  return [
    {
      name: 'reconcile-repairs',
      headline: 'reconcile repaired interrupted work, one repair for 100 ticks',
      metric: metrics.tickPercent('Repairs', 10, minutes(15)),
      threshold: 1,
    },
    {
      name: 'reconcile-silent',
      headline: 'reconcile has not run for 15 minutes',
      metric: metrics.reconcileRuns(minutes(5)),
      threshold: 1,
      // With one period, the missing data before the first run would be an alarm of each new deployment.
      periods: 3,
      below: true,
    },
    {
      name: 'reconcile-dead-letters',
      headline: 'Invocations of reconcile failed all attempts',
      metric: visible(reconcileDeadLetters),
      threshold: 1,
    },
  ];
}

function busAlarms(metrics: ServiceMetrics, { eventBus }: AlarmSources['settings']): AlarmSpec[] {
  if (eventBus === undefined) return [];
  const metric = metrics.own('BusErrors', minutes(5));
  // A message that keeps failing makes eight attempts in its first five minutes, then one per minute.
  return [
    { name: 'bus-errors', headline: 'Events did not reach the event bus', metric, threshold: 3, periods: 2 },
  ];
}

/** Returns the alarms against quotas, which only the account knows (`npm run preflight` prints them). */
function quotaAlarms(
  metrics: ServiceMetrics,
  { accountConcurrency, modelTokensPerMinute }: AlarmSources['settings'],
): AlarmSpec[] {
  const alarms: (AlarmSpec | undefined)[] = [
    accountConcurrency === undefined
      ? undefined
      : {
          name: 'concurrency',
          headline: 'Functions use 80 % of the concurrent executions of the account',
          metric: metrics.accountConcurrency(minutes(5)),
          threshold: 0.8 * accountConcurrency,
        },
    modelTokensPerMinute === undefined
      ? undefined
      : {
          name: 'model-tokens',
          headline: 'Model calls use 80 % of the tokens per minute',
          metric: metrics.tokensPerMinute(minutes(5)),
          threshold: 0.8 * modelTokensPerMinute,
        },
  ];
  return alarms.filter((alarm) => alarm !== undefined);
}

/** Returns comparison and missing-data handling. Missing data is an alarm only for alarms below a threshold. */
function comparisonFor({ below }: AlarmSpec) {
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
