import { Stack, Validations } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { serviceKey } from '../../storage/service-key.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';
import { alarmList, comparisonFor, type AlarmSpec, type AlarmSources } from './alarm-list.ts';
import { serviceName } from '../../function/service-name.ts';

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
