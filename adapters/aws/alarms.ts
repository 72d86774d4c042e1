import { DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import type { CloudWatchClient, MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type { Alarm, Alarms } from '../../core/ports/alarms.ts';
import { failed } from './platform-error.ts';

export type AlarmsOptions = {
  client: CloudWatchClient;
  /** What the names of this deployment's alarms begin with, and no other's. */
  prefix: string;
};

/** A page has 100, the service a dozen; a prefix that fits more than this is a wrong one. */
const mostPages = 5;

/** The alarms of CloudWatch that watch this deployment. Throws `TransientError`, and what a missing permission is to the SDK. */
export function createAlarms({ client, prefix }: AlarmsOptions): Alarms {
  return {
    list: async () => {
      const found: Alarm[] = [];
      let nextToken: string | undefined;
      for (let page = 0; page < mostPages; page += 1) {
        const answer = await client
          .send(
            new DescribeAlarmsCommand({
              AlarmNamePrefix: prefix,
              AlarmTypes: ['MetricAlarm'],
              MaxRecords: 100,
              ...(nextToken !== undefined && { NextToken: nextToken }),
            }),
          )
          .catch(failed);
        found.push(...(answer.MetricAlarms ?? []).map(readAlarm));
        nextToken = answer.NextToken;
        if (nextToken === undefined) break;
      }
      return found;
    },
  };
}

function readAlarm(alarm: MetricAlarm): Alarm {
  const { AlarmName: name = '', StateTransitionedTimestamp, StateUpdatedTimestamp } = alarm;
  // An alarm can be updated within its state; what is asked for is since when it is in it.
  const since = StateTransitionedTimestamp ?? StateUpdatedTimestamp;
  return {
    name,
    state: stateOf(alarm),
    description: descriptionOf(alarm),
    since: since?.toISOString() ?? null,
  };
}

function stateOf({ StateValue: state }: MetricAlarm): Alarm['state'] {
  if (state === 'OK') return 'ok';
  return state === 'ALARM' ? 'alarm' : 'unknown';
}

/** The reason is CloudWatch's own words with what was measured: of interest while it is wrong. */
function descriptionOf({ AlarmDescription: what = '', StateReason: reason, ...alarm }: MetricAlarm): string {
  if (stateOf(alarm) !== 'alarm' || !reason) return what;
  return `${what} (${withoutAccounts(reason)})`;
}

/** Twelve digits in a row: dates and measured values have none. */
function withoutAccounts(text: string): string {
  return text.replaceAll(/(?<!\d)\d{12}(?!\d)/g, '************');
}
