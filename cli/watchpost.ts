#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { defaultVideoModelId } from '../adapters/vision/bedrock/model-families.ts';
import { inputModeSchema } from '../core/records/capture.ts';
import { scopeSchema } from '../core/records/key.ts';
import { keyRotationQuerySchema } from '../core/requests/keys.ts';
import { backup } from './commands/backup.ts';
import { cost } from './commands/cost.ts';
import { createKey, labelKey, listKeys, revokeKey, rotateKey } from './commands/keys.ts';
import { stream } from './commands/stream.ts';
import type { KeyTarget } from './keys/open-key-backend.ts';
import { toExitCode, formatError } from './exit.ts';
import { addSettings, readSettings, settingNames } from './settings.ts';
import type { Settings } from './settings.ts';
import { openTerminal } from './terminal.ts';
import { version } from './version.ts';

// Commands that load the whole service are imported when they run: the others start in a third of the time.
const terminal = openTerminal(process.env);
const platformSettings = [
  'youtubeClients',
  'youtubeCookies',
  'youtubeProxy',
  'youtubeUrl',
  'twitchCookies',
  'twitchProxy',
  'twitchGqlUrl',
  'twitchUsherUrl',
  'twitchClientId',
] as const;
const visionSettings = ['vision', 'visionModel', 'openaiUrl', 'openaiApiKey'] as const;

const program = new Command('watchpost')
  .description('Watches live video streams with a vision-language model and reports what it sees.')
  .version(version)
  .showHelpAfterError('(add --help for the options)')
  .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage or settings.')
  .exitOverride();

addSettings(program.command('start').description('serve the API on this machine until SIGTERM'), settingNames)
  .option('--json', 'print one JSON line when ready')
  .action(async (raw: unknown) => {
    const { start } = await import('./commands/start.ts');
    await start(parseSettings(raw), terminal, wantsJson(raw));
  });

addSettings(program.command('demo'), ['ffmpeg', 'logLevel', ...visionSettings])
  .description('watch live streams made on this machine until their scene changes and signed webhooks arrive')
  .option('--json', 'print one JSON line an event')
  .action(async (raw: unknown) => {
    const { demo } = await import('./commands/demo.ts');
    await demo(parseSettings(raw), terminal, wantsJson(raw));
  });

addSettings(program.command('stream'), ['ffmpeg'])
  .description('serve a live stream to try things with: a yard, and a red car that comes and goes')
  .addOption(
    new Option('--port <port>', 'port to serve it on; 0 takes a free one')
      .default(9000)
      .argParser(between(0, 65_535)),
  )
  .action(async (raw: unknown) => {
    const { port, ffmpeg } = z.object({ port: z.number(), ffmpeg: z.string().optional() }).parse(raw);
    await stream({ port, ffmpeg: parseSettings({ ffmpeg }).ffmpeg }, terminal);
  });

const checkOptions = z.object({ mode: inputModeSchema, clipSeconds: z.string(), save: z.string() });

addSettings(program.command('check <url> <condition>'), [
  'allowRanges',
  'ffmpeg',
  ...platformSettings,
  ...visionSettings,
])
  .description('look once at a live stream: prints the verdict and saves the frame')
  .addOption(
    new Option('--mode <mode>', 'what the model is shown').choices(inputModeSchema.options).default('frames'),
  )
  .addOption(new Option('--clip-seconds <seconds>', 'length of a clip').choices(upTo(10)).default('3'))
  .option('--save <file>', 'where the frame is saved', 'watchpost-check.jpg')
  .option('--json', 'print the answer as JSON')
  .action(async (url: string, condition: string, raw: unknown) => {
    const { mode, clipSeconds, save } = checkOptions.parse(raw);
    const { check } = await import('./commands/check.ts');
    const wish = { url, condition, mode, clipSeconds: Number(clipSeconds), save };
    await check(wish, parseSettings(raw), terminal, wantsJson(raw));
  });

const costOptions = z.object({
  interval: z.number(),
  mode: inputModeSchema,
  clipSeconds: z.string(),
  skip: z.number(),
  alerts: z.number(),
  model: z.string(),
});

program
  .command('cost')
  .description('what a watched stream costs on AWS an hour, by list prices, line by line')
  .addOption(
    new Option('--interval <seconds>', 'from one check to the next').default(10).argParser(between(5, 300)),
  )
  .addOption(
    new Option('--mode <mode>', 'what the model is shown').choices(inputModeSchema.options).default('frames'),
  )
  .addOption(new Option('--clip-seconds <seconds>', 'length of a clip').choices(upTo(10)).default('3'))
  .addOption(
    new Option('--skip <share>', 'share of captures that the pre-filter keeps from the model')
      .default(0)
      .argParser(between(0, 1)),
  )
  .addOption(
    new Option('--alerts <count>', 'webhooks an hour')
      .default(1)
      .argParser(between(0, Number.MAX_SAFE_INTEGER)),
  )
  .option('--model <id>', 'the model on Bedrock', defaultVideoModelId)
  .option('--json', 'print the lines as JSON')
  .action(async (raw: unknown) => {
    const { interval, clipSeconds, skip, alerts, mode, model } = costOptions.parse(raw);
    const question = { mode, model, clipSeconds: Number(clipSeconds), intervalSeconds: interval };
    await cost({ ...question, skippedShare: skip, alertsPerHour: alerts }, terminal, wantsJson(raw));
  });

addSettings(program.command('backup <folder>'), ['dataDir'])
  .description('copy the data directory, whether the service runs or not, to a new folder that is one too')
  .action(async (folder: string, raw: unknown) => backup(parseSettings(raw).dataDir, folder, terminal));

const keys = program
  .command('keys')
  .description("API keys: of this machine's service, whether it runs or not, or of another that is named");
const keyOptions = z.object({
  caller: z.string().optional(),
  internal: z.boolean().default(false),
  admin: z.boolean().default(false),
  graceSeconds: z.number().default(3600),
  descendants: z.boolean().default(false),
  label: z.string().nullable().default(null),
});

const placeOptions = z.object({
  baseUrl: z.string().optional(),
  key: z.string().optional(),
  stack: z.string().optional(),
  table: z.string().optional(),
});

addPlace(keys.command('create').description('make a key; it is shown once'))
  .requiredOption('--caller <name>', 'the tenant that the key belongs to: letters, digits, and . _ @ -')
  .option('--internal', 'the key may read /metrics and /logs')
  .option('--admin', 'the key may manage callers and their keys')
  .option('--label <text>', 'what the key is for')
  .option('--json', 'print the key as JSON')
  .action(async (raw: unknown) => {
    const { caller = '', internal, admin, label } = keyOptions.parse(raw);
    const asked = { jobs: true, internal, admin };
    const scopes = scopeSchema.options.filter((scope) => asked[scope]);
    await createKey(parseTarget(raw), { caller, scopes, label }, terminal, wantsJson(raw));
  });

addPlace(keys.command('list').description('list keys, without their text'))
  .option('--caller <name>', 'only the keys of one caller')
  .option('--json', 'print the keys as JSON')
  .action(async (raw: unknown) =>
    listKeys(parseTarget(raw), keyOptions.parse(raw).caller, terminal, wantsJson(raw)),
  );

addPlace(keys.command('revoke <key>').description('revoke a key, given whole or by its prefix'))
  .option('--descendants', 'revoke all keys too that it made, and those that they made')
  .option('--json', 'print what was revoked as JSON')
  .action(async (key: string, raw: unknown) =>
    revokeKey(parseTarget(raw), key, keyOptions.parse(raw).descendants, terminal, wantsJson(raw)),
  );

addPlace(keys.command('label <key> <text>').description('say what a key is for'))
  .option('--json', 'print the key as JSON, without its text')
  .action(async (key: string, text: string, raw: unknown) =>
    labelKey(parseTarget(raw), key, text, terminal, wantsJson(raw)),
  );

addPlace(keys.command('rotate <key>').description('make a successor; the old key is good for a while'))
  .addOption(
    new Option('--grace-seconds <seconds>', 'how long the old key is good; 0 ends it at once')
      .default(3600)
      .argParser(parseGraceSeconds),
  )
  .option('--descendants', 'end with it all keys that it made, and those that they made')
  .option('--json', 'print the new key as JSON')
  .action(async (key: string, raw: unknown) => {
    const { graceSeconds, descendants } = keyOptions.parse(raw);
    const rotation = { grace_seconds: graceSeconds, descendants };
    await rotateKey(parseTarget(raw), key, rotation, terminal, wantsJson(raw));
  });

try {
  await program.parseAsync();
} catch (error) {
  for (const line of formatError(error)) terminal.note(line);
  process.exitCode = toExitCode(error);
}

function parseSettings(raw: unknown): Settings {
  return readSettings(z.record(z.string(), z.unknown()).parse(raw), process.env);
}

/** Whose keys: `--data-dir` is this machine's. */
function addPlace(command: Command): Command {
  return addSettings(command, ['dataDir'])
    .option('--base-url <url>', 'of a service that runs, with --key')
    .addOption(
      new Option('--key <key>', 'one of its keys, an admin key for other callers').env('WATCHPOST_KEY'),
    )
    .option(
      '--stack <name>',
      'of a deployment in AWS, found by the name of its stack, with your AWS credentials',
    )
    .option('--table <name>', 'the same, by its TableName');
}

function parseTarget(raw: unknown): KeyTarget {
  return { ...placeOptions.parse(raw), dataDir: parseSettings(raw).dataDir };
}

function wantsJson(raw: unknown): boolean {
  return z.object({ json: z.boolean().default(false) }).parse(raw).json;
}

function parseGraceSeconds(text: string): number {
  const parsed = keyRotationQuerySchema.safeParse({ grace_seconds: text });
  if (!parsed.success) throw new InvalidArgumentError('It is a whole number, at most a week.');
  return parsed.data.grace_seconds;
}

function between(least: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= max) return value;
    throw new InvalidArgumentError(`It is a number from ${least} to ${max}.`);
  };
}

function upTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1));
}
