import { CloudWatchClient, DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { createAlarms } from '../../../adapters/aws/alarms.ts';
import { alarmSchema } from '../../../core/ports/observability.ts';
import { TransientError } from '../../../core/errors.ts';

const client = new CloudWatchClient({ region: 'eu-west-1' });
const cloudWatch = mockClient(client);
const alarms = createAlarms({ client, prefix: 'Watchpost-prod/' });

beforeEach(() => void cloudWatch.reset());

const failedJobs: MetricAlarm = {
  AlarmName: 'Watchpost-prod/failed-jobs',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:Watchpost-prod/failed-jobs',
  AlarmDescription: 'Jobs failed. What to do: docs/operate/runbook.md#failed-jobs',
  StateValue: 'OK',
  StateReason: 'Threshold Crossed: 1 datapoint [0.0 (21/11/26 03:00:00)] was not greater than 5.0.',
  StateTransitionedTimestamp: new Date('2026-11-21T03:15:00.000Z'),
  StateUpdatedTimestamp: new Date('2026-11-21T03:45:00.000Z'),
};
const hold = (...held: MetricAlarm[]) =>
  cloudWatch.on(DescribeAlarmsCommand).resolves({ MetricAlarms: held });

test('alarms have their state, its start, and a description', async () => {
  hold(failedJobs);

  expect(await alarms.list()).toEqual([
    {
      name: 'Watchpost-prod/failed-jobs',
      state: 'ok',
      description: 'Jobs failed. What to do: docs/operate/runbook.md#failed-jobs',
      since: '2026-11-21T03:15:00.000Z',
    },
  ]);
});

test('alarms are requested by the prefix of their names', async () => {
  hold();

  await alarms.list();

  const [call] = cloudWatch.commandCalls(DescribeAlarmsCommand);
  expect(call?.args[0].input).toMatchObject({
    AlarmNamePrefix: 'Watchpost-prod/',
    AlarmTypes: ['MetricAlarm'],
  });
});

test('an active alarm contains the measured values without the account id', async () => {
  hold({
    ...failedJobs,
    StateValue: 'ALARM',
    StateReason: 'Threshold Crossed: [7.0] in arn:aws:sns:eu-west-1:123456789012:Topic',
  });

  const [alarm] = await alarms.list();

  expect(alarm).toMatchObject({
    state: 'alarm',
    description: expect.stringMatching(/#failed-jobs \(Threshold Crossed: \[7\.0\]/),
  });
  expect(JSON.stringify(alarm)).not.toContain('123456789012');
});

test('an alarm without data is of unknown state, and a new one has no time', async () => {
  hold({ AlarmName: 'Watchpost-prod/new', StateValue: 'INSUFFICIENT_DATA' });

  const [alarm] = await alarms.list();

  expect(alarmSchema.parse(alarm)).toMatchObject({ state: 'unknown', since: null });
});

test('alarms are read to the last page', async () => {
  cloudWatch
    .on(DescribeAlarmsCommand)
    .resolves({ MetricAlarms: [failedJobs], NextToken: 'second' })
    .on(DescribeAlarmsCommand, { NextToken: 'second' })
    .resolves({ MetricAlarms: [{ ...failedJobs, AlarmName: 'Watchpost-prod/dead-letters' }] });

  expect((await alarms.list()).map(({ name }) => name)).toEqual([
    'Watchpost-prod/failed-jobs',
    'Watchpost-prod/dead-letters',
  ]);
});

test('the number of alarm pages is limited', async () => {
  cloudWatch.on(DescribeAlarmsCommand).resolves({ MetricAlarms: [failedJobs], NextToken: 'more' });

  expect(await alarms.list()).toHaveLength(5);
});

test('throttling by CloudWatch is a TransientError', async () => {
  const busy = Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
  cloudWatch.on(DescribeAlarmsCommand).rejects(busy);

  await expect(alarms.list()).rejects.toThrow(TransientError);
});
