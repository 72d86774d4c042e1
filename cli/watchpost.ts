#!/usr/bin/env node
import { Command } from 'commander';
import { endWithNpm } from './end-with-npm.ts';
import { formatError, toExitCode } from './exit.ts';
import { addAdvise } from './program/add-advise.ts';
import { addBackup } from './program/add-backup.ts';
import { addCallers } from './program/add-callers.ts';
import { addCheck } from './program/add-check.ts';
import { addCost } from './program/add-cost.ts';
import { addDemo } from './program/add-demo.ts';
import { addDiscover } from './program/add-discover.ts';
import { addDoctor } from './program/add-doctor.ts';
import { addEvaluate } from './program/add-evaluate.ts';
import { addKeys } from './program/add-keys.ts';
import { addLabel } from './program/add-label.ts';
import { addReplay } from './program/add-replay.ts';
import { addRestore } from './program/add-restore.ts';
import { addStart } from './program/add-start.ts';
import { addStream } from './program/add-stream.ts';
import { addWatch } from './program/add-watch.ts';
import { openTerminal } from './terminal.ts';
import { version } from './version.ts';

/** Commands in the order of the help. What one runs is imported then: the others start in a third of the time. */
const commands = [
  addStart,
  addDemo,
  addStream,
  addCheck,
  addReplay,
  addAdvise,
  addEvaluate,
  addLabel,
  addWatch,
  addCost,
  addDoctor,
  addDiscover,
  addBackup,
  addRestore,
  addKeys,
  addCallers,
];

const terminal = openTerminal(process.env);
const program = new Command('watchpost')
  .description('Watches live video streams with a vision-language model and reports events.')
  .version(version)
  .showHelpAfterError('(use --help to list the options)')
  .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 invalid usage or settings.')
  .exitOverride();

for (const add of commands) add(program, terminal);

endWithNpm();
try {
  await program.parseAsync();
} catch (error) {
  for (const line of formatError(error)) terminal.note(line);
  process.exitCode = toExitCode(error);
}
