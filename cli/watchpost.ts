#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from 'commander';
import { inputModeSchema } from '../core/capture.ts';
import { check } from './commands/check.ts';
import { demo } from './commands/demo.ts';
import { createKey, listKeys, revokeKey } from './commands/keys.ts';
import { start } from './commands/start.ts';
import { exitCodeOf, explain } from './exit.ts';
import { addSettings, readSettings } from './settings.ts';
import { openTerminal } from './terminal.ts';
import { version } from './version.ts';

const terminal = openTerminal(process.env);

const program = new Command('watchpost')
  .description('Watches live video streams with a vision-language model and reports what it sees.')
  .version(version)
  .showHelpAfterError('(add --help for the options)')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage or settings.')
  .exitOverride();

addSettings(program.command('start').description('serve the API on this machine until SIGTERM'), [
  'port',
  'host',
  'publicUrl',
  'dataDir',
  'allowRanges',
  'vision',
  'visionModel',
  'openaiUrl',
  'openaiApiKey',
  'maxJobSeconds',
  'jobsPerCaller',
  'retentionSeconds',
  'ffmpeg',
  'logLevel',
])
  .option('--json', 'print one JSON line when ready')
  .action((options) => start(readSettings(options, process.env), terminal, options.json === true));

addSettings(
  program
    .command('demo')
    .description(
      'watch a live stream made on this machine until its scene changes and a signed webhook arrives',
    ),
  ['ffmpeg', 'vision', 'visionModel', 'openaiUrl', 'openaiApiKey'],
)
  .option('--json', 'print one JSON line an event')
  .action((options) => demo(readSettings(options, process.env), terminal, options.json === true));

addSettings(
  program
    .command('check <url> <condition>')
    .description('look once at a live stream: prints the verdict and saves the frame')
    .addOption(
      new Option('--mode <mode>', 'what is shown to the model')
        .choices(inputModeSchema.options)
        .default('frames'),
    )
    .option('--clip-seconds <seconds>', 'length of a clip, 1 to 10', clipSeconds, 3)
    .option('--save <file>', 'where the frame is saved', 'watchpost-check.jpg'),
  ['allowRanges', 'vision', 'visionModel', 'openaiUrl', 'openaiApiKey', 'ffmpeg'],
)
  .option('--json', 'print the answer as JSON')
  .action((url, condition, options) =>
    check(
      {
        url,
        condition,
        mode: inputModeSchema.parse(options.mode),
        clipSeconds: options.clipSeconds,
        save: options.save,
      },
      readSettings(options, process.env),
      terminal,
      options.json === true,
    ),
  );

const keys = program
  .command('keys')
  .description("API keys of this machine's service, whether it runs or not");

addSettings(keys.command('create').description('make a key; it is shown once'), ['dataDir'])
  .requiredOption('--caller <name>', 'the tenant that the key belongs to', callerName)
  .option('--internal', 'the key may read /metrics and /logs')
  .option('--label <text>', 'what the key is for')
  .option('--json', 'print the key as JSON')
  .action((options) =>
    createKey(
      readSettings(options, process.env).dataDir,
      { caller: options.caller, internal: options.internal === true, label: options.label ?? null },
      terminal,
      options.json === true,
    ),
  );

addSettings(keys.command('list').description('list keys, without their text'), ['dataDir'])
  .option('--caller <name>', 'only the keys of one caller')
  .option('--json', 'print the keys as JSON')
  .action((options) =>
    listKeys(readSettings(options, process.env).dataDir, options.caller, terminal, options.json === true),
  );

addSettings(keys.command('revoke <key>').description('revoke a key, given whole or by its prefix'), [
  'dataDir',
])
  .option('--json', 'print what was revoked as JSON')
  .action((key, options) =>
    revokeKey(readSettings(options, process.env).dataDir, key, terminal, options.json === true),
  );

try {
  await program.parseAsync();
} catch (error) {
  for (const line of explain(error)) terminal.note(line);
  process.exitCode = exitCodeOf(error);
}

function clipSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 10)
    throw new InvalidArgumentError('Give 1 to 10 seconds.');
  return seconds;
}

function callerName(text: string): string {
  if (!/^[\w.@-]{1,64}$/.test(text))
    throw new InvalidArgumentError('Give 1 to 64 letters, digits, or any of . _ @ -');
  return text;
}
