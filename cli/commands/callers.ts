import { z } from 'zod';
import type { Erasure } from '../../core/access/callers.ts';
import { findNearestName } from '../../core/nearest-name.ts';
import type { Usage } from '../../client/index.ts';
import { isForbidden, listCallerNames, readPages, withOperator } from '../target/operator.ts';
import type { Operator } from '../target/stored-operator.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';
import type { Command } from 'commander';
import { wantsJson } from '../parse-options.ts';
import { addPlace } from '../target/target-options.ts';

const usageOptions = z.object({
  caller: z.string().optional(),
  own: z.boolean().default(false),
  from: z.string().optional(),
  to: z.string().optional(),
  days: z.boolean().default(false),
  yes: z.boolean().default(false),
});

export function addUsage(program: Command, terminal: Terminal): void {
  addPlace(program.command('usage').description('print model calls, tokens and cost by caller'))
    .option('--caller <name>', 'caller whose use is printed; default: all')
    .option('--own', 'with --base-url, the caller of the key instead of all')
    .option('--from <day>', 'first day (UTC), YYYY-MM-DD; default: 29 days before the last one')
    .option('--to <day>', 'last day (UTC), included; default: today')
    .option('--days', 'also print each day')
    .option('--json', 'print the use as JSON')
    .action(async (raw: unknown) => {
      const { yes: _, ...options } = usageOptions.parse(raw);
      await withOperator(raw, (operator) => printUsage(operator, options, terminal, wantsJson(raw)));
    });
}

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
      await withOperator(raw, (operator) => deleteCaller(operator, caller, yes, terminal, wantsJson(raw)));
    });
}

type UsageRange = {
  from?: string | undefined;
  to?: string | undefined;
  caller?: string | undefined;
  own: boolean;
};

/** Prints model calls, tokens and cost by caller (`watchpost usage`), with `days` also of each day. */
export async function printUsage(
  operator: Operator,
  { days, ...range }: UsageRange & { days: boolean },
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  requireDays(range);
  const usage = await readUsage(operator, range);
  const used = usage.callers.filter(({ model_calls: calls }) => calls > 0);
  if (range.caller !== undefined && used.length === 0) await requireKnown(range.caller, operator);
  if (asJson) return terminal.print(JSON.stringify(usage));
  terminal.note(`Model calls, tokens and list price from ${usage.from} to ${usage.to} (UTC)`);
  if (used.length === 0) return terminal.note('No model calls.');
  for (const line of toLines(used, days)) terminal.print(line);
}

async function readUsage(operator: Operator, { from, to, caller, own }: UsageRange): Promise<Usage> {
  const all = caller === undefined && !own;
  const filter = {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(caller !== undefined && { caller }),
  };
  const pages = await readPages((position) =>
    operator.usage({ ...filter, ...(all && { all }), ...(caller === undefined && position) }),
  ).catch((cause: unknown) => {
    if (!isForbidden(cause)) throw cause;
    throw new CommandError(
      'Access denied',
      'Use a key with the scope admin, or --own for the use of its caller.',
      { cause },
    );
  });
  return { ...pages[0], callers: pages.flatMap(({ callers }) => callers), next_after: null };
}

function requireDays({ from, to }: UsageRange): void {
  const wrong = [from, to].find((day) => day !== undefined && !z.iso.date().safeParse(day).success);
  if (wrong !== undefined)
    throw new CommandError(`${JSON.stringify(wrong)} is not a day`, 'Use YYYY-MM-DD, such as 2026-03-01.');
}

type Amounts = Omit<Usage['callers'][number], 'caller' | 'days'>;

function toLines(callers: Usage['callers'], withDays: boolean): string[] {
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
  operator: Operator,
  caller: string,
  yes: boolean,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await requireKnown(caller, operator);
  const question = `Erase ${caller} with all its keys, jobs, watches, media and usage? This cannot be undone.`;
  if (!yes && !(await terminal.confirm(question)))
    throw new CommandError(`${caller} was not erased`, 'Answer yes at the terminal, or use --yes.');
  const sum = await eraseAll(operator, caller);
  if (asJson) terminal.print(JSON.stringify(sum));
  else
    terminal.print(
      `Erased ${caller}: ${sum.keys} keys, ${sum.jobs} jobs, ${sum.watches} watches, ${sum.media} media.`,
    );
}

async function eraseAll(operator: Operator, caller: string): Promise<Erasure> {
  const sum = await operator.deleteCaller(caller);
  while (!sum.complete) {
    const next = await operator.deleteCaller(caller);
    for (const name of ['keys', 'jobs', 'watches', 'media'] as const) sum[name] += next[name];
    sum.complete = next.complete;
  }
  return sum;
}

async function requireKnown(caller: string, operator: Operator): Promise<void> {
  const names = await listCallerNames(operator);
  if (names.includes(caller)) return;
  const nearest = findNearestName(caller, names);
  const suggestion = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const listed = names.length > 0 && names.length <= 20 ? `Callers: ${names.join(', ')}.` : '';
  throw new CommandError(
    `There is no caller ${caller}.${suggestion}`,
    listed || 'List the keys with keys list.',
  );
}
