#!/usr/bin/env node
import { Argument, Command, Option } from 'commander';
import { z } from 'zod';
import { defaultVideoModelId } from '../adapters/vision/bedrock/model-families.ts';
import { inputModeSchema } from '../core/records/capture.ts';
import { rules } from '../core/rules.ts';
import { toExitCode, formatError } from './exit.ts';
import { addSettings, settingNames } from './settings.ts';
import { addAdvise } from './program/add-advise.ts';
import { addBackup } from './program/add-backup.ts';
import { addCallers } from './program/add-callers.ts';
import { addDiscover } from './program/add-discover.ts';
import { addDoctor } from './program/add-doctor.ts';
import { addEvaluate } from './program/add-evaluate.ts';
import { addKeys } from './program/add-keys.ts';
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
import { limitNewObjects } from './service/limit-new-objects.ts';
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

addDoctor(program, terminal);
addDiscover(program, terminal);
addBackup(program, terminal);
addRestore(program, terminal);
addKeys(program, terminal);
addCallers(program, terminal);

try {
  await program.parseAsync();
} catch (error) {
  for (const line of formatError(error)) terminal.note(line);
  process.exitCode = toExitCode(error);
}
