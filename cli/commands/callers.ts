import { openCallerBackend } from '../callers/open-caller-backend.ts';
import { z } from 'zod';
import type { Erasure } from '../../core/access/erase-caller.ts';
import { findNearestName } from '../../core/nearest-name.ts';
import type { CallerBackend, CallerUsage, UsageRange } from '../callers/caller-backend.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';
import type { Command } from 'commander';
import { wantsJson } from '../parse-options.ts';
import { addPlace, parseTarget } from '../target/target-options.ts';

const usageOptions = z.object({
  caller: z.string().optional(),
  own: z.boolean().default(false),
  from: z.string().optional(),
  to: z.string().optional(),
  days: z.boolean().default(false),
  yes: z.boolean().default(false),
});

/** Adds `watchpost usage`. */
export function addUsage(program: Command, terminal: Terminal): void {
  addPlace(program.command('usage').description('print model calls, tokens and cost by caller'))
    .option('--caller <name>', 'caller whose use is printed; default: all')
    .option('--own', 'with --base-url, the caller of the key instead of all')
    .option('--from <day>', 'first day (UTC), YYYY-MM-DD; default: 29 days before the last one')
    .option('--to <day>', 'last day (UTC), included; default: today')
    .option('--days', 'also print each day')
    .option('--json', 'print the use as JSON')
    .action(async (raw: unknown) => {
      const { caller, own, from, to, days } = usageOptions.parse(raw);
      await withCallers(raw, { all: !own }, (backend) =>
        printUsage(backend, { caller, from, to, days }, terminal, wantsJson(raw)),
      );
    });
}

/** Adds `watchpost callers`. */
export function addCallers(program: Command, terminal: Terminal): void {
  const callers = program
    .command('callers')
    .description("manage callers of this machine's service, or of the service in the options");
  addPlace(
    callers.command('delete <caller>').description('erase a caller with everything that is stored for it'),
  )
    .option('--yes', 'erase without a confirmation')
    .option('--json', 'print what was removed as JSON')
    .action(async (caller: string, raw: unknown) => {
      const { yes } = usageOptions.parse(raw);
      await withCallers(raw, { all: true }, (backend) =>
        deleteCaller(backend, caller, yes, terminal, wantsJson(raw)),
      );
    });
}

async function withCallers(
  raw: unknown,
  scope: { all: boolean },
  work: (backend: CallerBackend) => Promise<void>,
): Promise<void> {
  const backend = await openCallerBackend(parseTarget(raw), scope);
  try {
    await work(backend);
  } finally {
    await backend.close();
  }
}

/** Prints model calls, tokens and cost by caller (`watchpost usage`), with `days` also of each day. */
export async function printUsage(
  backend: CallerBackend,
  { days, ...range }: UsageRange & { days: boolean },
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  requireDays(range);
  const usage = await backend.usage(range);
  const used = usage.callers.filter(({ model_calls: calls }) => calls > 0);
  if (range.caller !== undefined && used.length === 0) await requireKnown(range.caller, backend);
  if (asJson) return terminal.print(JSON.stringify(usage));
  terminal.note(`Model calls, tokens and list price from ${usage.from} to ${usage.to} (UTC)`);
  if (used.length === 0) return terminal.note('No model calls.');
  for (const line of toLines(used, days)) terminal.print(line);
}

function requireDays({ from, to }: UsageRange): void {
  const wrong = [from, to].find((day) => day !== undefined && !z.iso.date().safeParse(day).success);
  if (wrong !== undefined)
    throw new CommandError(`${JSON.stringify(wrong)} is not a day`, 'Use YYYY-MM-DD, such as 2026-03-01.');
}

type Amounts = Omit<CallerUsage['callers'][number], 'caller' | 'days'>;

function toLines(callers: CallerUsage['callers'], withDays: boolean): string[] {
  const rows = callers.flatMap((each) => [
    toRow(each.caller, each),
    ...(withDays ? each.days.map((day) => toRow(`  ${day.day}`, day)) : []),
  ]);
  const all = [['caller', 'calls', 'errors', 'input', 'output', 'cost'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}

function toRow(name: string, { model_calls, model_errors, input_tokens, output_tokens, cost_usd }: Amounts) {
  const counts = [model_calls, model_errors, input_tokens, output_tokens].map(String);
  return [name, ...counts, cost_usd === null ? 'unknown' : `$${cost_usd.toFixed(4)}`];
}

/**
 * Erases a caller with everything that is stored for it (`watchpost callers delete`), after a confirmation unless
 * `yes`.
 */
export async function deleteCaller(
  backend: CallerBackend,
  caller: string,
  yes: boolean,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await requireKnown(caller, backend);
  const question = `Erase ${caller} with all its keys, jobs, watches, media and usage? This cannot be undone.`;
  if (!yes && !(await terminal.confirm(question)))
    throw new CommandError(`${caller} was not erased`, 'Answer yes at the terminal, or use --yes.');
  const sum = await eraseAll(backend, caller);
  if (asJson) terminal.print(JSON.stringify(sum));
  else
    terminal.print(
      `Erased ${caller}: ${sum.keys} keys, ${sum.jobs} jobs, ${sum.watches} watches, ${sum.media} media.`,
    );
}

async function eraseAll(backend: CallerBackend, caller: string): Promise<Erasure> {
  const sum = await backend.erase(caller);
  while (!sum.complete) {
    const next = await backend.erase(caller);
    for (const name of ['keys', 'jobs', 'watches', 'media'] as const) sum[name] += next[name];
    sum.complete = next.complete;
  }
  return sum;
}

async function requireKnown(caller: string, backend: CallerBackend): Promise<void> {
  const names = await backend.names();
  if (names.includes(caller)) return;
  const nearest = findNearestName(caller, names);
  const suggestion = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const listed = names.length > 0 && names.length <= 20 ? `Callers: ${names.join(', ')}.` : '';
  throw new CommandError(
    `There is no caller ${caller}.${suggestion}`,
    listed || 'List the keys with keys list.',
  );
}
