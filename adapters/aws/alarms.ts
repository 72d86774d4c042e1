import { CloudWatchClient, DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type { Alarm, AlarmReader } from '../../core/ports/observability.ts';
import { throwCoreError } from './aws-error.ts';
import { clientSettings } from './client-settings.ts';

/** CloudWatch client (default: one of its own) and alarm names of the deployment. */
export type AlarmsOptions = {
  client?: CloudWatchClient;
  /** Common prefix of this deployment's alarm names. */
  prefix: string;
};

/** Safety limit. The service has about 12 alarms, a page holds 100. */
const maxPages = 5;

/**
 * Creates a reader of the deployment's CloudWatch alarms. `list` throws `TransientError`, and SDK errors such as a
 * missing permission.
 */
export function createAlarms({
  client = new CloudWatchClient(clientSettings),
  prefix,
}: AlarmsOptions): AlarmReader {
  return {
    list: async () => {
      const alarms: Alarm[] = [];
      let nextToken: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const answer = await client
          .send(
            new DescribeAlarmsCommand({
              AlarmNamePrefix: prefix,
              AlarmTypes: ['MetricAlarm'],
              MaxRecords: 100,
              ...(nextToken !== undefined && { NextToken: nextToken }),
            }),
          )
          .catch(throwCoreError);
        alarms.push(...(answer.MetricAlarms ?? []).map(readAlarm));
        nextToken = answer.NextToken;
        if (nextToken === undefined) break;
      }
      return alarms;
    },
  };
}

function readAlarm(alarm: MetricAlarm): Alarm {
  const { AlarmName: name = '', StateTransitionedTimestamp, StateUpdatedTimestamp } = alarm;
  // An alarm can be updated without a change of its state; `since` is the time of that change.
  const since = StateTransitionedTimestamp ?? StateUpdatedTimestamp;
  return {
    name,
    state: toState(alarm),
    description: describeAlarm(alarm),
    since: since?.toISOString() ?? null,
  };
}

function toState({ StateValue: state }: MetricAlarm): Alarm['state'] {
  if (state === 'OK') return 'ok';
  return state === 'ALARM' ? 'alarm' : 'unknown';
}

/** Returns the description, followed in state ALARM by CloudWatch's reason with the measured values. */
function describeAlarm({ AlarmDescription: what = '', StateReason: reason, ...alarm }: MetricAlarm): string {
  if (toState(alarm) !== 'alarm' || !reason) return what;
  return `${what} (${withoutAccounts(reason)})`;
}

/** Masks AWS account ids: 12 digits in a row, which dates and measured values never have. */
function withoutAccounts(text: string): string {
  return text.replaceAll(/(?<!\d)\d{12}(?!\d)/g, '************');
}
