import type { DestinationRequest, Watch, Watchpost, WatchRequest } from '../../client/index.ts';
import { destinationTypeSchema } from '../../core/records/watch.ts';
import { inputModeSchema } from '../../core/records/capture.ts';
import { CommandError } from '../command-error.ts';
import { oneLine, type Terminal } from '../terminal.ts';
import { findWatch, listAllWatches } from '../watches/find-watch.ts';
import { addApply } from './watch-apply.ts';
import { addBacktest } from './watch-backtest.ts';
import { addExport } from './watch-export.ts';
import { addService, openService } from '../target/target-options.ts';
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { addressFields } from '../../core/requests/watches.ts';
import { append, between, parseCondition, wantsJson } from '../parse-options.ts';

const addOptions = z.object({
  name: z.string(),
  interval: z.number().optional(),
  mode: inputModeSchema.optional(),
  destination: z.array(z.string()).default([]),
  label: z.array(z.string()).default([]),
});
const removeOptions = z.object({ yes: z.boolean().default(false) });

export function addWatch(program: Command, terminal: Terminal): void {
  const watch = program
    .command('watch')
    .description("manage watches of this machine's service, or of the service in the options");
  const json = '--json';

  addService(
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
      const wanted = {
        name,
        stream_url: url,
        conditions: conditions.map((condition) => ({ condition })),
        destinations: destination.map(parseDestination),
        labels,
        ...(interval !== undefined && { interval_seconds: interval }),
        ...(mode !== undefined && { input_mode: mode }),
      };
      await createWatch(await openService(raw), wanted, terminal, wantsJson(raw));
    });

  addService(watch.command('list').description('list watches with status and open alerts'))
    .option(json, 'print the watches as JSON')
    .action(async (raw: unknown) => {
      await listWatches(await openService(raw), terminal, wantsJson(raw));
    });

  for (const [name, description] of [
    ['show', 'print configuration and state of a watch, by its name or id'],
    ['pause', 'stop checking and close open alerts, until resumed'],
    ['resume', 'continue a paused watch'],
  ] as const)
    addService(watch.command(name).argument('<watch>', 'name or id').description(description))
      .option(json, 'print the watch as JSON')
      .action(async (which: string, raw: unknown) => {
        const act = { show: showWatch, pause: pauseWatch, resume: resumeWatch }[name];
        await act(await openService(raw), which, terminal, wantsJson(raw));
      });

  addService(
    watch.command('remove').argument('<watch>', 'name or id').description('delete a watch and its evidence'),
  )
    .option('--yes', 'do not ask')
    .action(async (which: string, raw: unknown) => {
      await removeWatch(await openService(raw), which, removeOptions.parse(raw).yes, terminal);
    });

  addApply(watch, terminal);
  addBacktest(watch, terminal);
  addExport(watch, terminal);
}

function appendCondition(text: string, before?: string[]): string[] {
  return append(parseCondition(text), before);
}

function parseDestination(text: string): DestinationRequest {
  const [name = '', ...rest] = text.split('=');
  const type = destinationTypeSchema.safeParse(name);
  const address = rest.join('=');
  if (!type.success || address === '')
    throw new InvalidArgumentError(
      `Use TYPE=ADDRESS with a type of: ${destinationTypeSchema.options.join(', ')}.`,
    );
  if (type.data === 'telegram') {
    const [token = '', to = ''] = address.split('/');
    return { type: type.data, to, token };
  }
  return { type: type.data, [addressFields[type.data]]: address };
}

/** Commands below `watchpost watch`: the endpoints below `/watches`, by the name of a watch. */

/** Creates a watch. A name identifies a watch for these commands: it must be new. */
export async function createWatch(
  client: Watchpost,
  wanted: WatchRequest,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  if ((await listAllWatches(client)).some(({ name }) => name === wanted.name))
    throw new CommandError(
      `There is a watch "${wanted.name}"`,
      'Use another --name, or change it with watch apply.',
    );
  printWatch(await client.createWatch(wanted), terminal, asJson);
}

/** Prints one line per watch: status, open alerts, name, id. */
export async function listWatches(client: Watchpost, terminal: Terminal, asJson: boolean): Promise<void> {
  const watches = await listAllWatches(client);
  if (asJson) terminal.print(JSON.stringify(watches));
  else if (watches.length === 0) terminal.note('No watches. Create one with watch add or watch apply.');
  else for (const watch of watches) terminal.print(lineFor(watch));
}

export async function showWatch(
  client: Watchpost,
  which: string,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  printWatch(await findWatch(which, client), terminal, asJson);
}

export const pauseWatch = changingBy('pauseWatch');
const resumeWatch = changingBy('resumeWatch');

function changingBy(change: 'pauseWatch' | 'resumeWatch'): typeof showWatch {
  return async (client, which, terminal, asJson) => {
    const { watch_id: id } = await findWatch(which, client);
    printWatch(await client[change](id), terminal, asJson);
  };
}

/** Deletes a watch after a confirmation, or immediately with `yes`. */
export async function removeWatch(
  client: Watchpost,
  which: string,
  yes: boolean,
  terminal: Terminal,
): Promise<void> {
  const { watch_id: id, name } = await findWatch(which, client);
  if (!yes && !(await terminal.confirm(`Remove the watch "${name}" and its evidence?`)))
    throw new CommandError('Nothing was removed', 'Confirm at a terminal, or use --yes.');
  await client.deleteWatch(id);
  terminal.print(`Removed "${name}".`);
}

function lineFor({ watch_id: id, name, status, state }: Watch): string {
  const open = state.conditions.filter((condition) => condition.state === 'open').length;
  const trouble = describeTrouble(state);
  const line = `${status.padEnd(16)}  ${open === 0 ? '-     ' : `${open} open`}  ${id}  ${oneLine(name)}`;
  return trouble.length === 0 ? line : `${line}  (${trouble.join('; ')})`;
}

/** Returns the trouble of the service with a watch, beside the causes of its status. */
export function describeTrouble({
  late_since: late,
  view_changed_since: otherView,
  destinations_failing: failing,
  model_failure: failure,
}: Pick<
  Watch['state'],
  'late_since' | 'view_changed_since' | 'destinations_failing' | 'model_failure'
>): string[] {
  return [
    ...(late === null ? [] : [`late since ${late}`]),
    ...(otherView === null ? [] : [`another view than that of the regions since ${otherView}`]),
    ...(failure === null ? [] : [`model: ${failure.message}`]),
    ...failing.map(({ destination_id: id, since, error }) => `${id} fails since ${since}: ${error}`),
  ];
}

function printWatch(watch: Watch, terminal: Terminal, asJson: boolean): void {
  if (asJson) return terminal.print(JSON.stringify(watch));
  const { name, watch_id: id, status, stream_url: url, state } = watch;
  terminal.print(`${oneLine(name)}  ${id}`);
  terminal.print(`  status      ${status}${describeCauses(watch)}`);
  terminal.print(`  stream      ${url}`);
  terminal.print(
    `  checks      every ${watch.interval_seconds} s, last frame ${state.last_frame_at ?? 'none'}`,
  );
  for (const { condition_id: conditionId, condition, severity } of watch.conditions) {
    const now = state.conditions.find((each) => each.condition_id === conditionId);
    const since = now?.opened_at ? ` since ${now.opened_at}` : '';
    terminal.print(
      `  condition   ${conditionId} (${severity}): ${now?.state ?? 'unknown'}${since}; ${oneLine(condition)}`,
    );
  }
  for (const trouble of describeTrouble(state)) terminal.print(`  trouble     ${trouble}`);
  for (const { destination_id: destinationId, type, url_masked: address } of watch.destinations)
    terminal.print(`  destination ${destinationId} (${type}): ${address}`);
}

function describeCauses({ state: { causes } }: Watch): string {
  const named = Object.values(causes).flatMap((cause) =>
    cause === null ? [] : [`${cause.reason} since ${cause.since}`],
  );
  return named.length === 0 ? '' : ` (${named.join('; ')})`;
}
