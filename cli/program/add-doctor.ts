import type { Command } from 'commander';
import { addSettings, settingNames } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseSettings, wantsJson } from './parse-options.ts';

/** Adds `watchpost doctor`. */
export function addDoctor(program: Command, terminal: Terminal): void {
  addSettings(program.command('doctor [urls...]'), settingNames)
    .description(
      'test ffmpeg, model, data, disk, clock, port and streams with these settings, and name next steps',
    )
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      '\nWithout URLs it tests the streams of running jobs. Exit code 1: at least one check failed.',
    )
    .action(async (urls: string[], raw: unknown) => {
      const { doctor } = await import('../commands/doctor.ts');
      const status = await doctor(urls, parseSettings(raw), terminal, wantsJson(raw));
      if (status === 'failed') process.exitCode = 1;
    });
}
