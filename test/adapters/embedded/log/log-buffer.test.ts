import { expect, test } from 'vitest';
import { createLineLog, createLogBuffer, teeLog } from '../../../../adapters/embedded/log/log.ts';
import { runLog } from '../../../../core/ports/observability.ts';
import { describeRecentLog } from '../../../contract/recent-log.contract.ts';
import { start } from '../../../contract/records.ts';
import { createCollectedLog } from './collected-log.ts';

const now = () => start;

describeRecentLog('The embedded log', async () => createLogBuffer({ level: 'info', now }));

test('entries below the level are dropped', async () => {
  const log = createLogBuffer({ level: 'warning', now });

  log.debug('a');
  log.info('b');
  log.warning('c');

  expect((await log.entries()).map(({ message }) => message)).toEqual(['c']);
});

test('a long message is truncated, so that the buffer stays small', async () => {
  const log = createLogBuffer({ level: 'info', now });

  log.info('long', { stack: 'x'.repeat(100_000) });

  expect((await log.entries())[0]?.message).toHaveLength(2_000);
});

test('a tee log writes an entry to each of its logs', async () => {
  const [left, right] = [createCollectedLog(), createCollectedLog()];
  const log = teeLog(left, right);

  log.debug('a');
  log.info('b', { tick: 1 });
  log.warning('c');
  log.error('d');

  expect(left.entries).toEqual([
    { level: 'debug', message: 'a' },
    { level: 'info', message: 'b', fields: { tick: 1 } },
    { level: 'warning', message: 'c' },
    { level: 'error', message: 'd' },
  ]);
  expect(right.entries).toEqual(left.entries);
});

test('an entry about a watch has its name in a field that cannot look like another entry', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const name = 'Gate"}\n{"level":"ERROR"';
  for (const humanReadable of [true, false]) {
    const log = createLineLog({ level: 'info', now: () => new Date(0), write, humanReadable });
    runLog(log, { run: 'watch', run_id: '1b7f0c2e-0000', name }).info('Stream lost');
  }
  expect(lines.map((line) => line.split('\n').length)).toEqual([2, 1]);
  expect(lines[0]).toMatch(/^00:00:00 {2}INFO {5}\[WATCH:1b7f0c2e\] Stream lost {2}watch=Gate/);
  expect(lines[0]?.split('\n')[1]).toMatch(/^ {4}/);
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ level: 'INFO', watch: name });
});
