import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createAlarms } from '../../../adapters/aws/alarms.ts';
import type { JsonCall } from '../../../adapters/aws/requests/json-calls.ts';
import { alarmSchema } from '../../../core/ports/alarms.ts';
import { TransientError } from '../../../core/errors.ts';
import { serviceError } from './requests/local-requests.ts';

const monitoring = vi.fn<JsonCall>();
const alarms = createAlarms({ monitoring, prefix: 'Watchpost-prod/' });

beforeEach(() => void monitoring.mockReset());

const failedJobs = {
  AlarmName: 'Watchpost-prod/failed-jobs',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:Watchpost-prod/failed-jobs',
  AlarmDescription: 'Jobs failed. What to do: docs/operate/runbook.md#failed-jobs',
  StateValue: 'OK',
  StateReason: 'Threshold Crossed: 1 datapoint [0.0 (21/11/26 03:00:00)] was not greater than 5.0.',
  StateTransitionedTimestamp: Date.parse('2026-11-21T03:15:00.000Z') / 1000,
  StateUpdatedTimestamp: Date.parse('2026-11-21T03:45:00.000Z') / 1000,
};
const hold = (...held: object[]) => monitoring.mockResolvedValue({ MetricAlarms: held });

describe('createAlarms', () => {
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

    const input = { AlarmNamePrefix: 'Watchpost-prod/', AlarmTypes: ['MetricAlarm'], MaxRecords: 100 };
    expect(monitoring).toHaveBeenCalledExactlyOnceWith('DescribeAlarms', input);
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
    const last = { ...failedJobs, AlarmName: 'Watchpost-prod/dead-letters' };
    monitoring.mockImplementation(async (_, input) =>
      'NextToken' in input ? { MetricAlarms: [last] } : { MetricAlarms: [failedJobs], NextToken: 'second' },
    );

    expect((await alarms.list()).map(({ name }) => name)).toEqual([
      'Watchpost-prod/failed-jobs',
      'Watchpost-prod/dead-letters',
    ]);
  });

  test('the number of alarm pages is limited', async () => {
    monitoring.mockResolvedValue({ MetricAlarms: [failedJobs], NextToken: 'more' });

    expect(await alarms.list()).toHaveLength(5);
  });

  test('throttling by CloudWatch is a TransientError', async () => {
    monitoring.mockRejectedValue(serviceError('ThrottlingException'));

    await expect(alarms.list()).rejects.toThrow(TransientError);
  });
});
