import type { Command } from 'commander';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseSettings, visionSettings, wantsJson } from './parse-options.ts';

/** Adds `watchpost demo`. */
export function addDemo(program: Command, terminal: Terminal): void {
  addSettings(program.command('demo'), ['ffmpeg', 'logLevel', ...visionSettings])
    .description('monitor two generated live streams until their scene changes and signed webhooks arrive')
    .option('--json', 'print one JSON line per event')
    .action(async (raw: unknown) => {
      const { demo } = await import('../commands/demo.ts');
      await demo(parseSettings(raw), terminal, wantsJson(raw));
    });
}
