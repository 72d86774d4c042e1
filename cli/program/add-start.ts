import type { Command } from 'commander';
import { limitNewObjects } from '../service/limit-new-objects.ts';
import { addSettings, settingNames } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseSettings, wantsJson } from './parse-options.ts';

/** Adds `watchpost start`. */
export function addStart(program: Command, terminal: Terminal): void {
  addSettings(program.command('start'), settingNames)
    .description('serve the API on this machine until SIGTERM')
    .option('--json', 'print one JSON line when ready')
    .action(async (raw: unknown) => {
      limitNewObjects();
      const { start } = await import('../commands/start.ts');
      await start(parseSettings(raw), terminal, wantsJson(raw));
    });
}
