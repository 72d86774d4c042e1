import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  type FilteredLogEvent,
} from '@aws-sdk/client-cloudwatch-logs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createRecentLog } from '../../../adapters/aws/recent-log.ts';
import { createPowertoolsLog } from '../../../adapters/aws/telemetry/powertools-log.ts';
import { describeRecentLog } from '../../contract/recent-log.contract.ts';
import { readStandardOutput } from './standard-output.ts';

const client = new CloudWatchLogsClient({ region: 'eu-west-1' });
const logs = mockClient(client);
const now = () => new Date('2026-11-21T10:00:00.000Z');
const recentLog = createRecentLog({ client, logGroup: '/watchpost', now });

beforeEach(() => void logs.reset());

/** The service: pages of `pageSize` events, newest first. */
function hold(lines: () => string[], pageSize = 200) {
  logs
    .on(FilterLogEventsCommand)
    .callsFake(async (input: { nextToken?: string; startFromHead?: boolean }) => {
      const newestFirst = lines().toReversed();
      const from = Number(input.nextToken ?? 0);
      const events: FilteredLogEvent[] = newestFirst
        .slice(from, from + pageSize)
        .map((message) => ({ message, timestamp: 0 }));
      const more = from + pageSize < newestFirst.length;
      return { events, ...(more && { nextToken: String(from + pageSize) }) };
    });
}

describeRecentLog('the log of the functions in CloudWatch', async () => {
  const output = readStandardOutput();
  onTestFinished(output.close);
  hold(output.lines);
  return { ...createPowertoolsLog({ level: 'debug', service: 'watchpost' }), ...recentLog };
});

const line = (second: number, fields: object = {}) =>
  JSON.stringify({
    level: 'INFO',
    message: `entry ${second}`,
    timestamp: new Date(Date.UTC(2026, 10, 21, 9, 0, second)).toISOString(),
    service: 'watchpost',
    ...fields,
  });

describe('the recent log of a log group', () => {
  afterEach(() => {
    const [first] = logs.commandCalls(FilterLogEventsCommand);
    expect(first?.args[0].input).toMatchObject({ logGroupName: '/watchpost', startFromHead: false });
  });

  test('reads from the end, with a start time, which reading from the end needs', async () => {
    hold(() => [line(1)]);

    await recentLog.entries();

    const [call] = logs.commandCalls(FilterLogEventsCommand);
    expect(call?.args[0].input.startTime).toBeGreaterThan(Date.UTC(2024, 0, 1));
  });

  test('goes on past pages without entries', async () => {
    const metrics = Array.from({ length: 400 }, () => '{"_aws":{"Timestamp":1},"Ticks":1}');
    hold(() => [line(1), ...metrics]);

    expect((await recentLog.entries()).map(({ message }) => message)).toEqual(['entry 1']);
  });

  test('leaves out what is no entry: reports of Lambda, metrics, halves of lines', async () => {
    hold(() => ['REPORT RequestId: 1', '{"type":"platform.report"}', '{"level":"INFO","mess', line(3)]);

    expect(await recentLog.entries()).toHaveLength(1);
  });

  test('puts the entries of several instances in the order of their times', async () => {
    hold(() => [line(2), line(4), line(1), line(3)]);

    expect((await recentLog.entries()).map(({ message }) => message)).toEqual([
      'entry 1',
      'entry 2',
      'entry 3',
      'entry 4',
    ]);
  });

  test('stops after some pages of a log that holds none of ours', async () => {
    hold(() => Array.from({ length: 5000 }, () => 'nothing'), 100);

    expect(await recentLog.entries()).toEqual([]);
    expect(logs.commandCalls(FilterLogEventsCommand)).toHaveLength(12);
  });
});
