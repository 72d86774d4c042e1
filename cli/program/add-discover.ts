import type { Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseSettings, wantsJson } from './parse-options.ts';

const discoverOptions = z.object({ user: z.string().optional() });

/** Adds `watchpost discover`. */
export function addDiscover(program: Command, terminal: Terminal): void {
  addSettings(program.command('discover [address]'), ['allowRanges'])
    .description('list the ONVIF cameras of the network, or the streams of the camera at an address')
    .option('--user <name>', 'user of the camera; its password is asked for')
    .option('--json', 'print the cameras or streams as JSON')
    .addHelpText(
      'after',
      '\nOnly cameras in the allowed ranges are asked. The password is read from the terminal, from standard input or from WATCHPOST_CAMERA_PASSWORD.',
    )
    .action(async (address: string | undefined, raw: unknown) => {
      const { discover } = await import('../commands/discover.ts');
      const { user } = discoverOptions.parse(raw);
      await discover({ address, user }, parseSettings(raw), terminal, wantsJson(raw));
    });
}
