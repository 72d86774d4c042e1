import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import {
  addCaptureOptions,
  captureOptions,
  parseCondition,
  parseSettings,
  visionSettings,
  wantsJson,
} from './parse-options.ts';

const checkOptions = z.object({ ...captureOptions, save: z.string() });
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

/** Adds `watchpost check`. */
export function addCheck(program: Command, terminal: Terminal): void {
  const command = addSettings(
    program.command('check <url>').addArgument(new Argument('<condition>').argParser(parseCondition)),
    ['allowRanges', 'ffmpeg', ...platformSettings, ...visionSettings],
  ).description('check a live stream once, print the verdict and save the frame');
  addCaptureOptions(command)
    .option('--save <file>', 'file for the frame', 'watchpost-check.jpg')
    .option('--json', 'print the result as JSON')
    .action(async (url: string, condition: string, raw: unknown) => {
      const request = { url, condition, ...checkOptions.parse(raw) };
      const { check } = await import('../commands/check.ts');
      await check(request, parseSettings(raw), terminal, wantsJson(raw));
    });
}
