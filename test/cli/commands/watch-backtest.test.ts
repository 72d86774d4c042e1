import { expect, onTestFinished, test, vi } from 'vitest';
import { backtestResult } from '../../../adapters/openapi/examples/moments.ts';
import { watch } from '../../../adapters/openapi/examples/watches.ts';
import { addBacktest } from '../../../cli/commands/watch-backtest.ts';
import { runCommand } from '../../support/run-command.ts';

test('a condition that is tried has the rules of the first one of its watch', async () => {
  const sent: any[] = [];
  const [own] = watch.conditions;
  const tuned = { ...own, checks_to_open: 3, checks_considered: 4, alert_on: 'each_stay' };
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const request = new Request(url, init);
    if (request.method === 'GET')
      return Response.json({ watches: [{ ...watch, conditions: [tuned] }], total: 1 });
    sent.push(await request.json());
    return Response.json({ ...backtestResult, next_cursor: null });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const options = ['--base-url', 'http://service.example/api', '--key', 'wp_1'];
  await runCommand(addBacktest, 'backtest', watch.name, '--condition', 'A van is there', ...options);
  const { condition_id: _, ...rules } = tuned;
  expect(sent[0].conditions).toEqual([{ ...rules, condition: 'A van is there' }]);
});
