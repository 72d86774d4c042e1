import type { Command } from 'commander';
import { z } from 'zod';
import { CommandError } from '../command-error.ts';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseSettings } from './parse-options.ts';

const optionsSchema = z.object({ secretOnly: z.boolean().default(false), table: z.string().optional() });

/** Adds `watchpost restore` and `watchpost accept-secret`. */
export function addRestore(program: Command, terminal: Terminal): void {
  addSettings(program.command('restore [folder]'), ['dataDir'])
    .description('replace the data directory by a backup, while the service is stopped')
    .option('--secret-only', 'restore the master secret only')
    .option('--table <name>', 'prepare a table that AWS restored, instead, with your AWS credentials')
    .action(async (folder: string | undefined, raw: unknown) => {
      const { secretOnly, table } = optionsSchema.parse(raw);
      if (table !== undefined && folder === undefined && !secretOnly) {
        // Imported on demand: the AWS clients load slower than the rest of the command line.
        const { restoreTable } = await import('../commands/restore-table.ts');
        return restoreTable(table, { terminal, now: () => new Date() });
      }
      if (folder === undefined || table !== undefined)
        throw new CommandError(
          'One backup has to be named',
          'Use the folder of a backup, or --table for a deployment on AWS.',
        );
      const { dataDir } = parseSettings(raw);
      const { restore, restoreSecret } = await import('../commands/restore.ts');
      return secretOnly
        ? restoreSecret(folder, dataDir, terminal)
        : restore(folder, dataDir, new Date(), terminal);
    });

  addSettings(program.command('accept-secret'), ['dataDir'])
    .description('let the next start use the master secret that it finds, or create a new one')
    .action(async (raw: unknown) => {
      const { acceptSecret } = await import('../commands/restore.ts');
      await acceptSecret(parseSettings(raw).dataDir, new Date(), terminal);
    });
}
