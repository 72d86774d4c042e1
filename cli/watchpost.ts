#!/usr/bin/env node
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { defaultVideoModelId } from '../adapters/vision/bedrock/model-families.ts';
import { inputModeSchema } from '../core/records/capture.ts';
import { scopeSchema } from '../core/records/key.ts';
import type { Scope } from '../core/records/key.ts';
import { keyRotationQuerySchema } from '../core/requests/keys.ts';
import type { CallerBackend } from './callers/caller-backend.ts';
import { rules } from '../core/rules.ts';
import type { KeyTarget } from './keys/select-target.ts';
import { toExitCode, formatError } from './exit.ts';
import { addSettings, settingNames } from './settings.ts';
import { addAdvise } from './program/add-advise.ts';
import { addBackup } from './program/add-backup.ts';
import { addDiscover } from './program/add-discover.ts';
import { addEvaluate } from './program/add-evaluate.ts';
import { addLabel } from './program/add-label.ts';
import { addRestore } from './program/add-restore.ts';
import { addReplay } from './program/add-replay.ts';
import { addWatch } from './program/add-watch.ts';
import {
  between,
  parseCondition,
  parseSettings,
  upTo,
  visionSettings,
  wantsJson,
} from './program/parse-options.ts';
import { limitNewObjects } from './limit-new-objects.ts';
import { openTerminal } from './terminal.ts';
import { version } from './version.ts';

// Commands are imported when they run: the others start in a third of the time.
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

const program = new Command('watchpost')
  .description('Watches live video streams with a vision-language model and reports events.')
  .version(version)
  .showHelpAfterError('(use --help to list the options)')
  .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 invalid usage or settings.')
  .exitOverride();

addSettings(program.command('start').description('serve the API on this machine until SIGTERM'), settingNames)
  .option('--json', 'print one JSON line when ready')
  .action(async (raw: unknown) => {
    limitNewObjects();
    const { start } = await import('./commands/start.ts');
    await start(parseSettings(raw), terminal, wantsJson(raw));
  });

addSettings(program.command('demo'), ['ffmpeg', 'logLevel', ...visionSettings])
  .description('monitor two generated live streams until their scene changes and signed webhooks arrive')
  .option('--json', 'print one JSON line per event')
  .action(async (raw: unknown) => {
    const { demo } = await import('./commands/demo.ts');
    await demo(parseSettings(raw), terminal, wantsJson(raw));
  });

addSettings(program.command('stream [video]'), ['ffmpeg'])
  .description(
    'serve a live test stream: a yard in which a red stop sign arrives and leaves, a recording in a loop, or a camera of this machine such as /dev/video0',
  )
  .addOption(
    new Option('--port <port>', 'port of the stream; 0 selects a free port')
      .default(9000)
      .argParser(between(0, 65_535)),
  )
  .action(async (video: string | undefined, raw: unknown) => {
    const { port, ffmpeg } = z.object({ port: z.number(), ffmpeg: z.string().optional() }).parse(raw);
    const { stream } = await import('./commands/stream.ts');
    await stream({ port, video, ffmpeg: parseSettings({ ffmpeg }).ffmpeg }, terminal);
  });

const checkOptions = z.object({ mode: inputModeSchema, clipSeconds: z.string(), save: z.string() });

addSettings(
  program.command('check <url>').addArgument(new Argument('<condition>').argParser(parseCondition)),
  ['allowRanges', 'ffmpeg', ...platformSettings, ...visionSettings],
)
  .description('check a live stream once, print the verdict and save the frame')
  .addOption(
    new Option('--mode <mode>', 'input of the model').choices(inputModeSchema.options).default('frames'),
  )
  .addOption(
    new Option('--clip-seconds <seconds>', 'length of the clip in seconds, 1 to 10')
      .choices(upTo(10))
      .default('3'),
  )
  .option('--save <file>', 'file for the frame', 'watchpost-check.jpg')
  .option('--json', 'print the result as JSON')
  .action(async (url: string, condition: string, raw: unknown) => {
    const { mode, clipSeconds, save } = checkOptions.parse(raw);
    const { check } = await import('./commands/check.ts');
    const request = { url, condition, mode, clipSeconds: Number(clipSeconds), save };
    await check(request, parseSettings(raw), terminal, wantsJson(raw));
  });

addReplay(program, terminal);
addAdvise(program, terminal);
addEvaluate(program, terminal);
addLabel(program, terminal);
addWatch(program, terminal);

const costOptions = z.object({
  interval: z.number(),
  mode: inputModeSchema,
  clipSeconds: z.string(),
  skip: z.number(),
  lookBack: z.number().optional(),
  alerts: z.number(),
  model: z.string(),
  burstSeconds: z.number(),
  source: z.enum(['hls', 'rtsp']),
  readers: z.number(),
  polls: z.number(),
  fixedEgress: z.boolean().default(false),
  streams: z.number(),
  mbps: z.number(),
  streamOrigin: z.enum(['function-url', 'rest-api']),
});

program
  .command('cost')
  .description('print the cost of a monitored stream on AWS per hour by list prices')
  .addOption(
    new Option('--interval <seconds>', 'seconds between checks, 5 to 300')
      .default(10)
      .argParser(between(5, 300)),
  )
  .addOption(
    new Option('--mode <mode>', 'input of the model').choices(inputModeSchema.options).default('frames'),
  )
  .addOption(
    new Option('--clip-seconds <seconds>', 'length of the clip in seconds, 1 to 10')
      .choices(upTo(10))
      .default('3'),
  )
  .addOption(
    new Option('--skip <share>', 'fraction of captures that the pre-filter skips, 0 to 1')
      .default(0)
      .argParser(between(0, 1)),
  )
  .addOption(
    new Option(
      '--look-back <frames>',
      'mean frames of a check with look_back, 1 to 4; default: no look_back',
    ).argParser(between(1, 4)),
  )
  .addOption(
    new Option('--alerts <count>', 'webhooks per hour; 0: a monitor without a webhook')
      .default(1)
      .argParser(between(0, Number.MAX_SAFE_INTEGER)),
  )
  .addOption(new Option('--source <kind>', 'kind of the stream').choices(['hls', 'rtsp']).default('hls'))
  .addOption(
    new Option('--readers <count>', 'open event streams, on average').default(0).argParser(between(0, 1000)),
  )
  .addOption(
    new Option('--polls <count>', 'polls of the job per hour').default(0).argParser(between(0, 100_000)),
  )
  .option('--fixed-egress', 'captures through the NAT gateway of a new VPC')
  .addOption(
    new Option('--streams <count>', 'concurrent streams that share the NAT gateway')
      .default(1)
      .argParser(between(1, 100_000)),
  )
  .addOption(
    new Option('--mbps <rate>', 'megabits per second of the stream, through the NAT gateway')
      .default(2)
      .argParser(between(0.01, 1000)),
  )
  .addOption(
    new Option('--stream-origin <origin>', 'origin of event streams on AWS')
      .choices(['function-url', 'rest-api'])
      .default('function-url'),
  )
  .option('--model <id>', 'model id on Bedrock', defaultVideoModelId)
  .addOption(
    new Option('--burst-seconds <seconds>', 'length of a burst of ticks on AWS in seconds, 0 (none) to 240')
      .default(rules.maxBurstSeconds)
      .argParser(between(0, rules.maxBurstSeconds)),
  )
  .option('--json', 'print the lines as JSON')
  .action(async (raw: unknown) => {
    const options = costOptions.parse(raw);
    const { interval, clipSeconds, skip, lookBack, alerts, polls, fixedEgress, streams, mbps, ...rest } =
      options;
    const question = {
      ...rest,
      clipSeconds: Number(clipSeconds),
      intervalSeconds: interval,
      pollsPerHour: polls,
      ...(lookBack !== undefined && { framesPerCheck: lookBack }),
      ...(fixedEgress && { gateway: { streams, megabitsPerSecond: mbps } }),
    };
    const { cost } = await import('./commands/cost.ts');
    await cost({ ...question, skippedShare: skip, alertsPerHour: alerts }, terminal, wantsJson(raw));
  });

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
    const { doctor } = await import('./commands/doctor.ts');
    const status = await doctor(urls, parseSettings(raw), terminal, wantsJson(raw));
    if (status === 'failed') process.exitCode = 1;
  });

addDiscover(program, terminal);

addBackup(program, terminal);
addRestore(program, terminal);

const keys = program
  .command('keys')
  .description("manage API keys of this machine's service, or of the service in the options");
const keyOptions = z.object({
  caller: z.string().optional(),
  scopes: z.array(scopeSchema).default([]),
  internal: z.boolean().default(false),
  newCaller: z.boolean().default(false),
  admin: z.boolean().default(false),
  graceSeconds: z.number().default(3600),
  descendants: z.boolean().default(false),
  label: z.string().nullable().default(null),
});

const usageOptions = z.object({
  caller: z.string().optional(),
  own: z.boolean().default(false),
  from: z.string().optional(),
  to: z.string().optional(),
  days: z.boolean().default(false),
  yes: z.boolean().default(false),
});

const placeOptions = z.object({
  baseUrl: z.string().optional(),
  key: z.string().optional(),
  stack: z.string().optional(),
  table: z.string().optional(),
});

addPlace(keys.command('create').description('create a key and print it once'))
  .requiredOption('--caller <name>', 'tenant that owns the key: letters, digits, and . _ @ -')
  .option('--new-caller', 'create the caller if it does not exist')
  .addOption(
    new Option('--scopes <list>', 'comma-separated scopes: read, jobs (includes read), keys, internal, admin')
      .default(['jobs', 'keys'], 'jobs,keys')
      .argParser(parseScopes),
  )
  .option('--internal', 'adds the scope internal: read /metrics and /logs')
  .option('--admin', 'adds the scope admin: manage callers and their keys')
  .option('--label <text>', 'purpose of the key')
  .option('--json', 'print the key as JSON')
  .action(async (raw: unknown) => {
    const { caller = '', newCaller, internal, admin, label, scopes: listed } = keyOptions.parse(raw);
    const added = [...(internal ? (['internal'] as const) : []), ...(admin ? (['admin'] as const) : [])];
    const scopes = [...new Set([...listed, ...added])];
    const { createKey } = await import('./commands/keys.ts');
    await createKey(parseTarget(raw), { caller, newCaller, scopes, label }, terminal, wantsJson(raw));
  });

addPlace(keys.command('list').description('list keys without their text'))
  .option('--caller <name>', 'caller whose keys are listed; default: all')
  .option('--json', 'print the keys as JSON')
  .action(async (raw: unknown) => {
    const { listKeys } = await import('./commands/keys.ts');
    await listKeys(parseTarget(raw), keyOptions.parse(raw).caller, terminal, wantsJson(raw));
  });

addPlace(keys.command('revoke <key>').description('revoke a key, by its text or prefix'))
  .option('--descendants', 'also revoke keys that it created, directly or indirectly')
  .option('--json', 'print the revoked keys as JSON')
  .action(async (key: string, raw: unknown) => {
    const { revokeKey } = await import('./commands/keys.ts');
    await revokeKey(parseTarget(raw), key, keyOptions.parse(raw).descendants, terminal, wantsJson(raw));
  });

addPlace(keys.command('label <key> <text>').description('change the label of a key'))
  .option('--json', 'print the key as JSON, without its text')
  .action(async (key: string, text: string, raw: unknown) => {
    const { labelKey } = await import('./commands/keys.ts');
    await labelKey(parseTarget(raw), key, text, terminal, wantsJson(raw));
  });

addPlace(
  keys
    .command('rotate <key>')
    .description('create a successor; the old key stays valid for the grace period'),
)
  .addOption(
    new Option(
      '--grace-seconds <seconds>',
      'grace period of the old key in seconds; 0 revokes it immediately',
    )
      .default(3600)
      .argParser(parseGraceSeconds),
  )
  .option('--descendants', 'also end keys that it created, directly or indirectly')
  .option('--json', 'print the new key as JSON')
  .action(async (key: string, raw: unknown) => {
    const { graceSeconds, descendants } = keyOptions.parse(raw);
    const rotation = { grace_seconds: graceSeconds, descendants };
    const { rotateKey } = await import('./commands/keys.ts');
    await rotateKey(parseTarget(raw), key, rotation, terminal, wantsJson(raw));
  });

addPlace(program.command('usage').description('print model calls, tokens and cost by caller'))
  .option('--caller <name>', 'caller whose use is printed; default: all')
  .option('--own', 'with --base-url, the caller of the key instead of all')
  .option('--from <day>', 'first day (UTC), YYYY-MM-DD; default: 29 days before the last one')
  .option('--to <day>', 'last day (UTC), included; default: today')
  .option('--days', 'also print each day')
  .option('--json', 'print the use as JSON')
  .action(async (raw: unknown) => {
    const { caller, own, from, to, days } = usageOptions.parse(raw);
    const { printUsage } = await import('./commands/callers.ts');
    await withCallers(raw, { all: !own }, (backend) =>
      printUsage(backend, { caller, from, to, days }, terminal, wantsJson(raw)),
    );
  });

const callers = program
  .command('callers')
  .description("manage callers of this machine's service, or of the service in the options");
addPlace(
  callers.command('delete <caller>').description('erase a caller with everything that is stored for it'),
)
  .option('--yes', 'erase without a confirmation')
  .option('--json', 'print what was removed as JSON')
  .action(async (caller: string, raw: unknown) => {
    const { yes } = usageOptions.parse(raw);
    const { deleteCaller } = await import('./commands/callers.ts');
    await withCallers(raw, { all: true }, (backend) =>
      deleteCaller(backend, caller, yes, terminal, wantsJson(raw)),
    );
  });

try {
  await program.parseAsync();
} catch (error) {
  for (const line of formatError(error)) terminal.note(line);
  process.exitCode = toExitCode(error);
}

async function withCallers(
  raw: unknown,
  scope: { all: boolean },
  work: (backend: CallerBackend) => Promise<void>,
): Promise<void> {
  const { openCallerBackend } = await import('./callers/open-caller-backend.ts');
  const backend = await openCallerBackend(parseTarget(raw), scope);
  try {
    await work(backend);
  } finally {
    await backend.close();
  }
}

/** Adds the options that select the service; `--data-dir` is that of this machine. */
function addPlace(command: Command): Command {
  return addSettings(command, ['dataDir'])
    .option('--base-url <url>', 'base URL of a running service; requires --key')
    .addOption(
      new Option('--key <key>', 'key of that service; an admin key for other callers').env('WATCHPOST_KEY'),
    )
    .option('--stack <name>', 'name of a stack on AWS, accessed with your AWS credentials')
    .option('--table <name>', 'TableName of a deployment on AWS, instead of --stack');
}

function parseTarget(raw: unknown): KeyTarget {
  return { ...placeOptions.parse(raw), dataDir: parseSettings(raw).dataDir };
}

function parseGraceSeconds(text: string): number {
  const parsed = keyRotationQuerySchema.safeParse({ grace_seconds: text });
  if (!parsed.success) throw new InvalidArgumentError('Use a whole number of seconds, at most a week.');
  return parsed.data.grace_seconds;
}

/** Parses a comma-separated list of scopes. Throws `InvalidArgumentError` for an unknown or missing scope. */
function parseScopes(text: string): Scope[] {
  const parsed = z.array(scopeSchema).safeParse(text.split(',').map((scope) => scope.trim()));
  if (!parsed.success) throw new InvalidArgumentError(`Use scopes of: ${scopeSchema.options.join(', ')}.`);
  return parsed.data;
}
