import { Argument, type Command } from 'commander';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { parseCondition, parseSettings, visionSettings, wantsJson } from './parse-options.ts';

/** Adds `watchpost advise`. */
export function addAdvise(program: Command, terminal: Terminal): void {
  addSettings(
    program.command('advise').addArgument(new Argument('<condition>').argParser(parseCondition)),
    visionSettings,
  )
    .description('say what is doubtful about a condition, and which settings fit; asks no model')
    .option('--json', 'print the advice as JSON')
    .action(async (condition: string, raw: unknown) => {
      const { advise } = await import('../commands/advise.ts');
      advise(condition, parseSettings(raw), terminal, wantsJson(raw));
    });
}
