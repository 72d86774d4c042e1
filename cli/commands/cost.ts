import { estimate, type CostQuestion } from '../cost/estimate.ts';
import { listPricesDate } from '../cost/stream-hour.ts';
import type { Terminal } from '../terminal.ts';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { sourceKinds } from '../../adapters/aws/usage-units.ts';
import { defaultVideoModelId } from '../../adapters/vision/bedrock/model-families.ts';
import { rules } from '../../core/rules.ts';
import { addCaptureOptions, between, captureOptions, wantsJson } from '../parse-options.ts';

const costOptions = z.object({
  interval: z.number(),
  ...captureOptions,
  skip: z.number(),
  lookBack: z.number().optional(),
  memory: z.boolean().default(false),
  alerts: z.number(),
  model: z.string(),
  burstSeconds: z.number(),
  source: z.enum(sourceKinds),
  readers: z.number(),
  polls: z.number(),
  fixedEgress: z.boolean().default(false),
  streams: z.number(),
  mbps: z.number(),
  streamOrigin: z.enum(['function-url', 'rest-api']),
});

export function addCost(program: Command, terminal: Terminal): void {
  const command = program
    .command('cost')
    .description('print the cost of a monitored stream on AWS per hour by list prices')
    .addOption(
      new Option('--interval <seconds>', 'seconds between checks, 5 to 300')
        .default(10)
        .argParser(between(5, 300)),
    );
  addCaptureOptions(command)
    .addOption(
      new Option('--skip <share>', 'fraction of captures that the pre-filter skips, 0 to 1')
        .default(0)
        .argParser(between(0, 1)),
    )
    .addOption(
      new Option(
        '--look-back <frames>',
        'mean frames of a check with look_back, 1 to 4; default: no look_back',
      ).argParser(between(1, 4)),
    )
    .option('--memory', 'the watch remembers what the model judges (memory_days, scene)')
    .addOption(
      new Option('--alerts <count>', 'webhooks per hour; 0: a monitor without a webhook')
        .default(1)
        .argParser(between(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(new Option('--source <kind>', 'kind of the stream').choices(sourceKinds).default('hls'))
    .addOption(
      new Option('--readers <count>', 'open event streams, on average')
        .default(0)
        .argParser(between(0, 1000)),
    )
    .addOption(
      new Option('--polls <count>', 'polls of the job per hour').default(0).argParser(between(0, 100_000)),
    )
    .option('--fixed-egress', 'captures through the NAT gateway of a new VPC')
    .addOption(
      new Option('--streams <count>', 'concurrent streams that share the NAT gateway')
        .default(1)
        .argParser(between(1, 100_000)),
    )
    .addOption(
      new Option('--mbps <rate>', 'megabits per second of the stream, through the NAT gateway')
        .default(2)
        .argParser(between(0.01, 1000)),
    )
    .addOption(
      new Option('--stream-origin <origin>', 'origin of event streams on AWS')
        .choices(['function-url', 'rest-api'])
        .default('function-url'),
    )
    .option('--model <id>', 'model id on Bedrock', defaultVideoModelId)
    .addOption(
      new Option('--burst-seconds <seconds>', 'length of a burst of ticks on AWS in seconds, 0 (none) to 240')
        .default(rules.maxBurstSeconds)
        .argParser(between(0, rules.maxBurstSeconds)),
    )
    .option('--json', 'print the lines as JSON')
    .action(async (raw: unknown) => {
      const options = costOptions.parse(raw);
      const { interval, skip, lookBack, alerts, polls, fixedEgress, streams, mbps, memory, ...rest } =
        options;
      const question = {
        ...rest,
        intervalSeconds: interval,
        pollsPerHour: polls,
        remembers: memory,
        ...(lookBack !== undefined && { framesPerCheck: lookBack }),
        ...(fixedEgress && { gateway: { streams, megabitsPerSecond: mbps } }),
      };
      await cost({ ...question, skippedShare: skip, alertsPerHour: alerts }, terminal, wantsJson(raw));
    });
}

/** Prints the cost of a stream-hour on AWS by list prices (`watchpost cost`). */
export async function cost(question: CostQuestion, terminal: Terminal, asJson: boolean): Promise<void> {
  const { lines, total } = await estimate(question);
  if (asJson) return terminal.print(JSON.stringify({ ...question, prices: listPricesDate, lines, total }));
  for (const { item, quantity, unit, dollars } of lines) {
    terminal.print(
      `${item.padEnd(16)} ${quantity.toFixed(quantity < 10 ? 4 : 0).padStart(10)} ${unit.padEnd(12)} $${dollars.toFixed(5)}`,
    );
  }
  terminal.print(`${'Stream-hour'.padEnd(40)} $${total.toFixed(4)}`);
  terminal.note(
    `List prices of us-east-1 as of ${listPricesDate}. Excludes free tiers, data transfer, traces, and the fixed cost of alarms and dashboard.`,
  );
}
