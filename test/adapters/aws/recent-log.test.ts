import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  type FilteredLogEvent,
} from '@aws-sdk/client-cloudwatch-logs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createRecentLog } from '../../../adapters/aws/recent-log.ts';
import { createPowertoolsLog } from '../../../adapters/aws/telemetry/telemetry.ts';
import { describeRecentLog } from '../../contract/recent-log.contract.ts';
import { readStandardOutput } from './standard-output.ts';

const client = new CloudWatchLogsClient({ region: 'eu-west-1' });
const logs = mockClient(client);
const now = () => new Date('2026-11-21T10:00:00.000Z');
const recentLog = createRecentLog({ client, logGroup: '/watchpost', now });

beforeEach(() => void logs.reset());

/** CloudWatch Logs: pages of `pageSize` events, newest first. */
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

afterEach(() => {
  const [first] = logs.commandCalls(FilterLogEventsCommand);
  expect(first?.args[0].input).toMatchObject({ logGroupName: '/watchpost', startFromHead: false });
});

test('the log is read from its end, with the start time that this requires', async () => {
  hold(() => [line(1)]);

  await recentLog.entries();

  const [call] = logs.commandCalls(FilterLogEventsCommand);
  expect(call?.args[0].input.startTime).toBeGreaterThan(Date.UTC(2024, 0, 1));
});

test('empty pages are skipped', async () => {
  const metrics = Array.from({ length: 400 }, () => '{"_aws":{"Timestamp":1},"Ticks":1}');
  hold(() => [line(1), ...metrics]);

  expect((await recentLog.entries()).map(({ message }) => message)).toEqual(['entry 1']);
});

test('lines of Lambda, metrics and partial lines are omitted', async () => {
  hold(() => ['REPORT RequestId: 1', '{"type":"platform.report"}', '{"level":"INFO","mess', line(3)]);

  expect(await recentLog.entries()).toHaveLength(1);
});

test('entries of several instances are sorted by time', async () => {
  hold(() => [line(2), line(4), line(1), line(3)]);

  expect((await recentLog.entries()).map(({ message }) => message)).toEqual([
    'entry 1',
    'entry 2',
    'entry 3',
    'entry 4',
  ]);
});

test('the number of pages is limited if a log has no entries', async () => {
  hold(() => Array.from({ length: 5000 }, () => 'nothing'), 100);

  expect(await recentLog.entries()).toEqual([]);
  expect(logs.commandCalls(FilterLogEventsCommand)).toHaveLength(12);
});
