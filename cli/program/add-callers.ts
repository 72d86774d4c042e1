import type { Command } from 'commander';
import { z } from 'zod';
import type { CallerBackend } from '../callers/caller-backend.ts';
import type { Terminal } from '../terminal.ts';
import { wantsJson } from './parse-options.ts';
import { addPlace, parseTarget } from '../target/target-options.ts';

const usageOptions = z.object({
  caller: z.string().optional(),
  own: z.boolean().default(false),
  from: z.string().optional(),
  to: z.string().optional(),
  days: z.boolean().default(false),
  yes: z.boolean().default(false),
});

/** Adds `watchpost usage` and `watchpost callers`. */
export function addCallers(program: Command, terminal: Terminal): void {
  addPlace(program.command('usage').description('print model calls, tokens and cost by caller'))
    .option('--caller <name>', 'caller whose use is printed; default: all')
    .option('--own', 'with --base-url, the caller of the key instead of all')
    .option('--from <day>', 'first day (UTC), YYYY-MM-DD; default: 29 days before the last one')
    .option('--to <day>', 'last day (UTC), included; default: today')
    .option('--days', 'also print each day')
    .option('--json', 'print the use as JSON')
    .action(async (raw: unknown) => {
      const { caller, own, from, to, days } = usageOptions.parse(raw);
      const { printUsage } = await import('../commands/callers.ts');
      await withCallers(raw, { all: !own }, (backend) =>
        printUsage(backend, { caller, from, to, days }, terminal, wantsJson(raw)),
      );
    });

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
      const { deleteCaller } = await import('../commands/callers.ts');
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
  const { openCallerBackend } = await import('../callers/open-caller-backend.ts');
  const backend = await openCallerBackend(parseTarget(raw), scope);
  try {
    await work(backend);
  } finally {
    await backend.close();
  }
}
