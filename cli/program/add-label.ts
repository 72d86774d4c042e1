import { Option, type Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { between, parseSettings } from './parse-options.ts';

const labelOptions = z.object({
  labelPort: z.number(),
  alerts: z.boolean().default(false),
  baseUrl: z.string().optional(),
  key: z.string().optional(),
});

/** Adds `watchpost label`. */
export function addLabel(program: Command, terminal: Terminal): void {
  addSettings(program.command('label <set>'), ['ffmpeg', 'dataDir'])
    .description('label a set with the keyboard, on a page that only this machine can open')
    .addOption(
      new Option('--label-port <port>', 'port of the page; 0: a free one')
        .default(8799)
        .argParser(between(0, 65_535)),
    )
    .option('--alerts', 'first add the reviewed alerts of the service')
    .option('--base-url <url>', 'base URL of the service of --alerts; default: that of the data directory')
    .addOption(new Option('--key <key>', 'key for --base-url').env('WATCHPOST_KEY'))
    .action(async (set: string, raw: unknown) => {
      const { labelPort: port, ...rest } = labelOptions.parse(raw);
      const { label } = await import('../commands/label.ts');
      const options = { set, port, alerts: rest.alerts, baseUrl: rest.baseUrl, key: rest.key };
      await label(options, parseSettings(raw), terminal);
    });
}
