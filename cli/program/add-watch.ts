import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { inputModeSchema } from '../../core/records/capture.ts';
import { destinationTypeSchema } from '../../core/records/watch.ts';
import { addressFields } from '../../core/requests/watches.ts';
import type { NewWatch } from '../commands/watch.ts';
import type { Watchpost } from '../../client/index.ts';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { append, between, parseCondition, parseSettings, wantsJson } from './parse-options.ts';

const targetOptions = z.object({
  baseUrl: z.string().optional(),
  stack: z.string().optional(),
  key: z.string().optional(),
});
const addOptions = z.object({
  name: z.string(),
  interval: z.number().optional(),
  mode: inputModeSchema.optional(),
  destination: z.array(z.string()).default([]),
  label: z.array(z.string()).default([]),
});
const exportOptions = z.object({
  watch: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
});
const applyOptions = z.object({ prune: z.boolean().default(false), yes: z.boolean().default(false) });

/** Adds `watchpost watch` with its commands. */
export function addWatch(program: Command, terminal: Terminal): void {
  const watch = program
    .command('watch')
    .description("manage watches of this machine's service, or of the service in the options");
  const json = '--json';

  addTarget(
    watch
      .command('add')
      .argument('<url>', 'live stream')
      .addArgument(new Argument('<conditions...>', 'sentences to check').argParser(appendCondition))
      .description('create a watch: a stream, conditions, destinations; other fields with apply'),
  )
    .requiredOption('--name <name>', 'name of the watch; it identifies the watch for these commands')
    .addOption(
      new Option('--interval <seconds>', 'seconds between checks, 5 to 300; default 10').argParser(
        between(5, 300),
      ),
    )
    .addOption(
      new Option('--mode <mode>', 'input of the model; default frames').choices(inputModeSchema.options),
    )
    .option('--destination <type=address>', 'destination, such as slack=https://…; repeatable', append)
    .option('--label <text>', 'label; repeatable', append)
    .option(json, 'print the watch as JSON')
    .action(async (url: string, conditions: string[], raw: unknown) => {
      const { name, interval, mode, destination, label: labels } = addOptions.parse(raw);
      const destinations = destination.map(parseDestination);
      const { addWatch: add } = await import('../commands/watch.ts');
      const wanted = { url, conditions, name, interval, mode, destinations, labels };
      await add(await openTarget(raw), wanted, terminal, wantsJson(raw));
    });

  addTarget(watch.command('list').description('list watches with status and open alerts'))
    .option(json, 'print the watches as JSON')
    .action(async (raw: unknown) => {
      const { listWatches } = await import('../commands/watch.ts');
      await listWatches(await openTarget(raw), terminal, wantsJson(raw));
    });

  for (const [name, description] of [
    ['show', 'print configuration and state of a watch, by its name or id'],
    ['pause', 'stop checking and close open alerts, until resumed'],
    ['resume', 'continue a paused watch'],
  ] as const)
    addTarget(watch.command(name).argument('<watch>', 'name or id').description(description))
      .option(json, 'print the watch as JSON')
      .action(async (which: string, raw: unknown) => {
        const { showWatch, pauseWatch, resumeWatch } = await import('../commands/watch.ts');
        const act = { show: showWatch, pause: pauseWatch, resume: resumeWatch }[name];
        await act(await openTarget(raw), which, terminal, wantsJson(raw));
      });

  addTarget(
    watch.command('remove').argument('<watch>', 'name or id').description('delete a watch and its evidence'),
  )
    .option('--yes', 'do not ask')
    .action(async (which: string, raw: unknown) => {
      const { removeWatch } = await import('../commands/watch.ts');
      await removeWatch(await openTarget(raw), which, applyOptions.parse(raw).yes, terminal);
    });

  addTarget(
    watch
      .command('apply')
      .argument('<file>', 'YAML or JSON; - reads standard input')
      .description('create and change watches to match a file, which identifies them by name'),
  )
    .option('--prune', 'also remove watches that the file lacks')
    .option('--yes', 'apply the plan without asking')
    .action(async (file: string, raw: unknown) => {
      const { applyWatches } = await import('../commands/watch-apply.ts');
      await applyWatches(await openTarget(raw), { file, ...applyOptions.parse(raw) }, process.env, terminal);
    });

  addTarget(
    watch
      .command('export')
      .argument('<folder>', 'folder of the set')
      .description('write reviewed alerts as a labelled set, which watchpost evaluate reads'),
  )
    .option('--watch <watch>', 'name or id; default: all watches')
    .addOption(new Option('--from <time>', 'opened at this time or later (ISO 8601)').argParser(parseTime))
    .addOption(new Option('--to <time>', 'opened before this time (ISO 8601)').argParser(parseTime))
    .action(async (folder: string, raw: unknown) => {
      const { watch: which, from, to } = exportOptions.parse(raw);
      const { exportReviews } = await import('../commands/watch-export.ts');
      await exportReviews(await openTarget(raw), { folder, watch: which, from, to }, terminal);
    });
}

/** Adds the options that select the service; `--data-dir` is that of this machine. */
function addTarget(command: Command): Command {
  return addSettings(command, ['dataDir'])
    .option('--base-url <url>', 'base URL of a service; requires --key')
    .option(
      '--stack <name>',
      'name of a stack on AWS, whose base URL your AWS credentials find; requires --key',
    )
    .addOption(
      new Option('--key <key>', 'key with the scope jobs; apply also needs keys').env('WATCHPOST_KEY'),
    );
}

function appendCondition(text: string, before?: string[]): string[] {
  return append(parseCondition(text), before);
}

function parseDestination(text: string): NewWatch['destinations'][number] {
  const [name = '', ...rest] = text.split('=');
  const type = destinationTypeSchema.safeParse(name);
  const address = rest.join('=');
  if (!type.success || address === '')
    throw new InvalidArgumentError(
      `Use TYPE=ADDRESS with a type of: ${destinationTypeSchema.options.join(', ')}.`,
    );
  const field = addressFields[type.data];
  if (field === 'to') return { type: type.data, address: { to: address } };
  return { type: type.data, address: field === 'url' ? { url: address } : { routing_key: address } };
}

/** Parses a time, also a date alone. Throws `InvalidArgumentError`. */
function parseTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Use a time such as 2026-11-01T12:00:00Z.');
  return time.toISOString();
}

/** Opens the service in the options. Imported on demand: other commands start without the client. */
async function openTarget(raw: unknown): Promise<Watchpost> {
  const { openServiceClient } = await import('../target/service-client.ts');
  return openServiceClient({ ...targetOptions.parse(raw), dataDir: parseSettings(raw).dataDir });
}
