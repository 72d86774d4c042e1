import { expect, test } from 'vitest';
import { createLogBuffer, teeLog } from '../../../../adapters/embedded/log/log-buffer.ts';
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
