import { z } from 'zod';
import type { Alarm, AlarmReader } from '../../core/ports/alarms.ts';
import { throwCoreError } from './aws-error.ts';
import type { JsonCall } from './requests/json-calls.ts';

/** Calls of CloudWatch and alarm names of the deployment. */
export type AlarmsOptions = {
  monitoring: JsonCall;
  /** Common prefix of this deployment's alarm names. */
  prefix: string;
};

/** Safety limit. The service has about 12 alarms, a page holds 100. */
const maxPages = 5;

/**
 * Creates a reader of the deployment's CloudWatch alarms. `list` throws `TransientError`, and other errors of AWS such as a
 * missing permission.
 */
export function createAlarms({ monitoring, prefix }: AlarmsOptions): AlarmReader {
  return {
    list: async () => {
      const found: Alarm[] = [];
      let nextToken: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const input = {
          AlarmNamePrefix: prefix,
          AlarmTypes: ['MetricAlarm'],
          MaxRecords: 100,
          ...(nextToken !== undefined && { NextToken: nextToken }),
        };
        const answer = pageSchema.parse(await monitoring('DescribeAlarms', input).catch(throwCoreError));
        found.push(...answer.MetricAlarms.map(readAlarm));
        nextToken = answer.NextToken;
        if (nextToken === undefined) break;
      }
      return found;
    },
  };
}

/** Time in seconds since 1970. */
const timeSchema = z.number().transform((seconds) => new Date(seconds * 1000));
const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string().default(''),
  StateValue: z.string(),
  StateReason: z.string().optional(),
  StateTransitionedTimestamp: timeSchema.optional(),
  StateUpdatedTimestamp: timeSchema.optional(),
});
type MetricAlarm = z.output<typeof alarmSchema>;
const pageSchema = z.object({
  MetricAlarms: z.array(alarmSchema).default([]),
  NextToken: z.string().optional(),
});

function readAlarm(alarm: MetricAlarm): Alarm {
  const { AlarmName: name, StateTransitionedTimestamp, StateUpdatedTimestamp } = alarm;
  // An alarm can be updated without a change of its state; `since` is the time of that change.
  const since = StateTransitionedTimestamp ?? StateUpdatedTimestamp;
  return {
    name,
    state: toState(alarm),
    description: describeAlarm(alarm),
    since: since?.toISOString() ?? null,
  };
}

function toState({ StateValue: state }: Pick<MetricAlarm, 'StateValue'>): Alarm['state'] {
  if (state === 'OK') return 'ok';
  return state === 'ALARM' ? 'alarm' : 'unknown';
}

/** Returns the description, followed in state ALARM by CloudWatch's reason with the measured values. */
function describeAlarm({ AlarmDescription: what, StateReason: reason, ...alarm }: MetricAlarm): string {
  if (toState(alarm) !== 'alarm' || !reason) return what;
  return `${what} (${withoutAccounts(reason)})`;
}

/** Masks AWS account ids: 12 digits in a row, which dates and measured values never have. */
function withoutAccounts(text: string): string {
  return text.replaceAll(/(?<!\d)\d{12}(?!\d)/g, '************');
}
