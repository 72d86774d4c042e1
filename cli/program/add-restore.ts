import type { Command } from 'commander';
import { z } from 'zod';
import { CommandError } from '../command-error.ts';
import { acceptSecret, restore, restoreSecret } from '../commands/restore.ts';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseSettings, wantsJson } from './parse-options.ts';

const optionsSchema = z.object({
  secretOnly: z.boolean().default(false),
  fromTable: z.string().optional(),
  stack: z.string().optional(),
  table: z.string().optional(),
  except: z.array(z.string()).default([]),
  yes: z.boolean().default(false),
});

/** Adds `watchpost restore` and `watchpost accept-secret`. */
export function addRestore(program: Command, terminal: Terminal): void {
  addSettings(program.command('restore [folder]'), ['dataDir'])
    .description(
      'replace the data directory by a backup, while the service is stopped; or restore a deployment on AWS',
    )
    .option('--secret-only', 'restore the master secret only')
    .option('--from-table <name>', 'table that AWS restored from a backup, for --stack or --table')
    .option('--stack <name>', 'stack on AWS that receives what it lacks, accessed with your AWS credentials')
    .option('--table <name>', 'TableName of a deployment on AWS, instead of --stack')
    .option('--except <name...>', 'callers and ids of watches, jobs and keys that are not restored')
    .option('--yes', 'change the table on AWS; without it the plan is printed')
    .option('--json', 'print plan and result as JSON')
    .action(async (folder: string | undefined, raw: unknown) => {
      const { secretOnly, fromTable, ...options } = optionsSchema.parse(raw);
      const { stack, table } = options;
      if (fromTable === undefined && stack === undefined && table === undefined) {
        if (folder === undefined)
          throw new CommandError(
            'No backup is named',
            'Use the folder of a backup, or --from-table with --stack on AWS.',
          );
        const { dataDir } = parseSettings(raw);
        return secretOnly
          ? restoreSecret(folder, dataDir, terminal)
          : restore(folder, dataDir, new Date(), terminal);
      }
      if (fromTable === undefined || folder !== undefined || secretOnly)
        throw new CommandError(
          'A deployment on AWS is restored from a table',
          'Use --from-table with --stack or --table, and no folder.',
        );
      // Imported on demand: the AWS clients load slower than the rest of the command line.
      const { restoreTable } = await import('../commands/restore-table.ts');
      await restoreTable(
        { fromTable, ...options, json: wantsJson(raw) },
        { terminal, now: () => new Date() },
      );
    });

  addSettings(program.command('accept-secret'), ['dataDir'])
    .description('let the next start use the master secret that it finds, or create a new one')
    .action(async (raw: unknown) => acceptSecret(parseSettings(raw).dataDir, new Date(), terminal));
}
