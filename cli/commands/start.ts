import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Finding } from '../../core/ports/observability.ts';
import { credentialsFile } from '../credentials.ts';
import type { Credentials } from '../credentials.ts';
import { formatFinding } from '../checks/checks.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { findNetworkFiles, installCommand } from '../../adapters/vision/objects/packages.ts';
import { addSettings, settingNames, listSettings } from '../settings.ts';
import { limitNewObjects } from '../limit-new-objects.ts';
import type { Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { version } from '../version.ts';
import type { Command } from 'commander';
import { parseSettings, wantsJson } from '../parse-options.ts';
import { findNearestName } from '../../core/nearest-name.ts';

/** Variables with the prefix that are no settings of the service, with their reader. */
export const otherVariables: Record<string, string> = {
  WATCHPOST_KEY: 'the commands below keys, for --base-url',
  WATCHPOST_CAMERA_PASSWORD: 'watchpost discover',
  WATCHPOST_API_KEY: 'examples of callers',
  WATCHPOST_WEBHOOK_SECRET: 'examples of receivers',
  WATCHPOST_VERSION: 'the bundles of the functions on AWS',
  WATCHPOST_CHROMIUM: 'the tests of the console',
  WATCHPOST_SCREENSHOTS: 'the tests of the console',
  WATCHPOST_TEST_FOLDER: 'the tests',
  WATCHPOST_TEST_SYSTEM_FOLDER: 'the tests',
  WATCHPOST_TEST_PACKAGES: 'the tests',
};

const prefix = 'WATCHPOST_';
/** Names that other programs use, which are no sign of a forgotten prefix. */
const commonNames = new Set(['PORT', 'HOST', 'LOG_LEVEL', 'FFMPEG', 'OPENAI_API_KEY']);

/** Returns a warning for each variable that looks like a setting but has no effect. */
export function findStrayVariables(env: NodeJS.ProcessEnv): string[] {
  const settings = listSettings().map(({ variable }) => variable);
  const mistyped = Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !settings.includes(name) && !(name in otherVariables))
    .map((name) => {
      const nearest = findNearestName(name, settings);
      return `${name} is no setting and has no effect.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
    });
  const unprefixed = settings
    .map((variable) => ({ variable, name: variable.slice(prefix.length) }))
    .filter(
      ({ variable, name }) =>
        env[name] !== undefined && env[variable] === undefined && !commonNames.has(name),
    )
    .map(({ variable, name }) => `${name} has no effect: the setting is ${variable}.`);
  return [...mistyped, ...unprefixed];
}

/** Adds `watchpost start`. */
export function addStart(program: Command, terminal: Terminal): void {
  addSettings(program.command('start'), settingNames)
    .description('serve the API on this machine until SIGTERM')
    .option('--json', 'print one JSON line when ready')
    .option(
      '--no-deliveries',
      'keep events from receivers, to look into a backup; they wait for a start without it',
    )
    .action(async (raw: unknown) => {
      limitNewObjects();
      await start(parseSettings(raw), terminal, {
        asJson: wantsJson(raw),
        delivers: z.object({ deliveries: z.boolean() }).parse(raw).deliveries,
      });
    });
}

/** Runs the service until SIGTERM or SIGINT (`watchpost start`). Active jobs continue at the next start. */
export async function start(
  settings: Settings,
  terminal: Terminal,
  { asJson, delivers }: { asJson: boolean; delivers: boolean },
): Promise<void> {
  for (const warning of findStrayVariables(process.env)) terminal.note(`Warning: ${warning}`);
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  // Loaded on demand: `limitNewObjects` replaces the process before.
  const { runService } = await import('../service/run-service.ts');
  const { service, credentials, close } = await runService(settings, ffmpeg, {
    write: (line) => terminal.note(line),
    humanReadable: terminal.isTerminal,
    delivers,
  });
  const { health, vision } = service.deps;
  if (asJson) {
    const file = credentialsFile(settings.dataDir);
    const judges = describeJudged(vision.provider);
    terminal.print(JSON.stringify({ base_url: credentials.base_url, credentials_file: file, judges }));
  } else {
    await Promise.race([service.modelTested, sleep(bannerWaitMs, undefined, { ref: false })]);
    greet(settings, credentials, { findings: await health.read(), provider: vision.provider }, terminal);
  }
  await stopped;
  terminal.note('Stopping. Active jobs continue at the next start.');
  await close();
}

/** Time for which the banner waits for the test of the model, in milliseconds. The service already responds. */
const bannerWaitMs = 1000;

/** Returns the origins at which other devices find a service that listens on all addresses; none for another one. */
export function listOrigins(
  host: string,
  port: string,
  interfaces: ReturnType<typeof networkInterfaces>,
): string[] {
  const families = { '0.0.0.0': ['IPv4'], '::': ['IPv4', 'IPv6'] }[host] ?? [];
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(
      ({ family, internal, address }) => !internal && families.includes(family) && !/^fe80:/i.test(address),
    )
    .map(({ family, address }) => `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`);
}

function greet(
  settings: Settings,
  { base_url: baseUrl }: Credentials,
  { findings, provider }: { findings: Finding[]; provider: string },
  { print, color }: Terminal,
): void {
  const file = credentialsFile(settings.dataDir);
  print(`${color.bold('Watchpost')} serves on ${color.cyan(baseUrl)}`);
  print(`  version   ${version}`);
  print(`  console   ${color.cyan(new URL('/console', baseUrl).href)}`);
  const listens = settings.publicUrl === '' ? settings.host : '';
  const others = listOrigins(listens, new URL(baseUrl).port, networkInterfaces());
  for (const origin of others) print(`  network   ${color.cyan(`${origin}/console`)}`);
  print(
    `  key       api_key in ${file} (readable only by you), or: npm run watchpost -- keys create --caller NAME`,
  );
  print(`  judges    ${describeJudged(provider)}`);
  for (const finding of findings) for (const line of formatFinding(finding, color)) print(line);
  print(`  data      ${resolve(settings.dataDir)}`);
  print(
    `  try       curl -H "Authorization: Bearer $(node -p 'require("${resolve(file)}").api_key')" ${baseUrl}/jobs`,
  );
}

/** Returns in one line what the service judges, and what it cannot judge: a condition beyond it never triggers. */
export function describeJudged(provider: string, hasDetector = findNetworkFiles() !== null): string {
  if (provider !== 'objects') return 'any condition, as well as the model understands it';
  return hasDetector
    ? '80 everyday things, colors, brightness and motion (built-in model); set WATCHPOST_VISION to judge any condition'
    : `colors, brightness and motion only, no things such as persons and cars: packages are missing, run ${installCommand}`;
}
