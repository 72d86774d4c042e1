import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRecentLog } from '../../../adapters/aws/recent-log.ts';
import type { JsonCall } from '../../../adapters/aws/requests/json-calls.ts';
import { createPowertoolsLog } from '../../../adapters/aws/telemetry/powertools-log.ts';
import { describeRecentLog } from '../../contract/recent-log.contract.ts';
import { readStandardOutput } from './standard-output.ts';

const logs = vi.fn<JsonCall>();
const now = () => new Date('2026-11-21T10:00:00.000Z');
const recentLog = createRecentLog({ logs, logGroup: '/watchpost', now });

beforeEach(() => void logs.mockReset());

/** CloudWatch Logs: pages of `pageSize` events, newest first. */
function hold(lines: () => string[], pageSize = 200) {
  logs.mockImplementation(async (_, input: { nextToken?: string }) => {
    const newestFirst = lines().toReversed();
    const from = Number(input.nextToken ?? 0);
    const events = newestFirst.slice(from, from + pageSize).map((message) => ({ message, timestamp: 0 }));
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

describe('createRecentLog', () => {
  afterEach(() => {
    const input = expect.objectContaining({ logGroupName: '/watchpost', startFromHead: false });
    expect(logs.mock.calls[0]).toEqual(['FilterLogEvents', input]);
  });

  test('the log is read from its end, with the start time that this requires', async () => {
    hold(() => [line(1)]);

    await recentLog.entries();

    const [, input] = logs.mock.calls[0] ?? [];
    expect((input as { startTime: number }).startTime).toBeGreaterThan(Date.UTC(2024, 0, 1));
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
    expect(logs).toHaveBeenCalledTimes(12);
  });
});
