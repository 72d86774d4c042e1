import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { between, parseSettings } from './parse-options.ts';

const backupOptions = z.object({ every: z.number().optional(), keep: z.number().optional() });

/** Adds `watchpost backup`. */
export function addBackup(program: Command, terminal: Terminal): void {
  addSettings(program.command('backup <folder>'), ['dataDir'])
    .description('copy the data directory to a new folder, also while the service runs')
    .addOption(
      new Option(
        '--every <interval>',
        'repeat at this interval, such as 12h or 1d, in dated folders below <folder>',
      ).argParser(parseInterval),
    )
    .addOption(
      new Option(
        '--keep <count>',
        'number of dated backups below <folder>; older ones are removed (with --every, default 7)',
      ).argParser(between(1, 10_000)),
    )
    .action(async (folder: string, raw: unknown) => {
      const { every, keep } = backupOptions.parse(raw);
      const options = {
        dataDir: parseSettings(raw).dataDir,
        folder,
        ...(every !== undefined && { everyMs: every }),
        ...(keep !== undefined && { keep }),
      };
      const { backup } = await import('../commands/backup.ts');
      await backup(options, { terminal, now: () => new Date(), sleep: async (ms) => sleep(ms) });
    });
}

/** Parses an interval of minutes, hours or days to milliseconds. */
function parseInterval(text: string): number {
  const [, count, unit] = /^(\d{1,4})(m|h|d)$/.exec(text) ?? [];
  const seconds = unit === 'm' ? 60 : unit === 'h' ? 3600 : 86_400;
  // A timer of Node holds 24 days.
  if (count !== undefined && Number(count) > 0 && Number(count) * seconds <= 20 * 86_400)
    return Number(count) * seconds * 1000;
  throw new InvalidArgumentError('Use minutes, hours or days, such as 30m, 12h or 1d, at most 20d.');
}
