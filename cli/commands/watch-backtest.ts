import { Option, type Command } from 'commander';
import { z } from 'zod';
import type { BacktestRequest, BacktestResult, Watchpost } from '../../client/index.ts';
import { append, parseCondition } from '../parse-options.ts';
import { addService, openService } from '../target/target-options.ts';
import { oneLine, type Terminal } from '../terminal.ts';
import { findWatch } from '../watches/find-watch.ts';
import { parseCalls } from './search.ts';
import { parseTime } from './watch-export.ts';

const backtestOptions = z.object({
  condition: z.array(z.string()).default([]),
  from: z.string().optional(),
  to: z.string().optional(),
  maxCalls: z.number().default(1000),
  estimate: z.boolean().default(false),
  json: z.boolean().default(false),
});

export function addBacktest(watch: Command, terminal: Terminal): void {
  addService(
    watch
      .command('backtest')
      .argument('<watch>', 'name or id')
      .description('print the alerts that conditions would have opened over what a watch remembers'),
  )
    .option(
      '--condition <text>',
      'condition to try, with the rules of the first one of the watch; repeatable; default: those of the watch',
      append,
    )
    .addOption(new Option('--from <time>', 'begin (ISO 8601)').argParser(parseTime))
    .addOption(new Option('--to <time>', 'end (ISO 8601)').argParser(parseTime))
    .addOption(new Option('--max-calls <number>', 'maximum model calls').argParser(parseCalls))
    .option('--estimate', 'print only what it would cost')
    .option('--json', 'print each response as a line of JSON')
    .action(async (which: string, raw: unknown) => {
      const { condition, from, to, maxCalls, estimate, json } = backtestOptions.parse(raw);
      const texts = condition.map(parseCondition);
      const client = await openService(raw);
      const { watch_id: watchId, conditions: own } = await findWatch(which, client);
      const { condition_id: _, ...rules } = own[0] ?? {};
      const conditions = texts.map((text) => ({ ...rules, condition: text }));
      const request = {
        ...(conditions.length > 0 && { conditions }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        max_calls: maxCalls,
        estimate,
      };
      await backtest(watchId, request, client, terminal, json);
    });
}

/** Plays to the end, or until the calls are used up, and prints alerts as they arrive. */
export async function backtest(
  watchId: string,
  request: BacktestRequest,
  client: Watchpost,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  for (let cursor: string | null = null; ;) {
    const answer: BacktestResult = await client.backtestWatch(watchId, {
      ...request,
      ...(cursor !== null && { cursor }),
    });
    cursor = answer.next_cursor;
    const isLast = cursor === null || answer.stopped !== 'time';
    if (asJson) terminal.print(JSON.stringify(answer));
    else printAlerts(answer, isLast, terminal);
    if (!isLast) continue;
    if (asJson) return;
    const { estimate, model_calls: modelCalls, cost_usd: usd } = answer;
    const cost = request.estimate
      ? { calls: estimate.model_calls, usd: estimate.cost_usd }
      : { calls: modelCalls, usd };
    terminal.note(answer.sentence);
    terminal.note(
      `${cost.calls} model calls, ${cost.usd === null ? 'price unknown' : `$${cost.usd.toFixed(2)}`}`,
    );
    if (answer.stopped === 'calls') terminal.note('The model calls are used up: raise --max-calls.');
    if (answer.stopped === 'model') terminal.note('The model failed: try again.');
    return;
  }
}

function printAlerts({ alerts, open, possible }: BacktestResult, isLast: boolean, terminal: Terminal): void {
  const print = (listed: BacktestResult['alerts'], isPossible: boolean) => {
    for (const { opened_at, closed_at, condition_id, explanation, picture_url } of listed)
      terminal.print(
        [
          `${opened_at} to ${isPossible ? 'unknown' : (closed_at ?? 'open')}`,
          ...(isPossible ? ['possible'] : []),
          condition_id,
          oneLine(explanation),
          picture_url ?? 'no picture',
        ].join('  '),
      );
  };
  print(alerts, false);
  if (isLast) print(open, false);
  print(possible, true);
}
