#!/usr/bin/env node
import { Command } from 'commander';
import { endWithNpm, formatError, toExitCode } from './exit.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { version } from './version.ts';

type AddCommand = (program: Command, terminal: Terminal) => void;

/** Commands in the order of the help. Only the file of the one that runs is loaded: the service takes a second. */
const commands: Record<string, () => Promise<AddCommand>> = {
  start: async () => (await import('./commands/start.ts')).addStart,
  demo: async () => (await import('./commands/demo.ts')).addDemo,
  stream: async () => (await import('./commands/stream.ts')).addStream,
  check: async () => (await import('./commands/check.ts')).addCheck,
  replay: async () => (await import('./commands/replay.ts')).addReplay,
  advise: async () => (await import('./commands/advise.ts')).addAdvise,
  evaluate: async () => (await import('./commands/evaluate.ts')).addEvaluate,
  label: async () => (await import('./commands/label.ts')).addLabel,
  watch: async () => (await import('./commands/watch.ts')).addWatch,
  ask: async () => (await import('./commands/ask.ts')).addAsk,
  search: async () => (await import('./commands/search.ts')).addSearch,
  cost: async () => (await import('./commands/cost.ts')).addCost,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  discover: async () => (await import('./commands/discover.ts')).addDiscover,
  backup: async () => (await import('./commands/backup.ts')).addBackup,
  restore: async () => (await import('./commands/restore.ts')).addRestore,
  'accept-secret': async () => (await import('./commands/restore.ts')).addAcceptSecret,
  keys: async () => (await import('./commands/keys.ts')).addKeys,
  usage: async () => (await import('./commands/callers.ts')).addUsage,
  callers: async () => (await import('./commands/callers.ts')).addCallers,
};

const terminal = openTerminal(process.env);
const program = new Command('watchpost')
  .description('Watches live video streams with a vision-language model and reports events.')
  .version(version)
  .showHelpAfterError('(use --help to list the options)')
  .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 invalid usage or settings.')
  .exitOverride();

const named = commands[process.argv[2] ?? ''];
// The help, and the words for an unknown command, list all.
for (const load of named ? [named] : Object.values(commands)) (await load())(program, terminal);

endWithNpm();
try {
  await program.parseAsync();
} catch (error) {
  for (const line of formatError(error)) terminal.note(line);
  process.exitCode = toExitCode(error);
}
