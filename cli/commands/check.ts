import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { InputMode } from '../../core/records/capture.ts';
import { maskUrl } from '../../core/stream/mask-url.ts';
import { checkOnce } from '../../core/stream/check-once.ts';
import { unlimitedTurns } from '../../core/ports/stream-capturer.ts';
import { requireReachable } from '../checks/private-address.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { createLimits } from '../service/limits.ts';
import { createCaptureScheduler } from '../service/capture-scheduler.ts';
import { loadPlatformSettings } from '../service/platforms.ts';
import { addSettings, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { createVisionModel } from '../service/vision-model.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import { Argument, type Command } from 'commander';
import { z } from 'zod';
import {
  addCaptureOptions,
  captureOptions,
  parseCondition,
  parseSettings,
  visionSettings,
  wantsJson,
} from '../parse-options.ts';

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
      await check(request, parseSettings(raw), terminal, wantsJson(raw));
    });
}

/** Arguments of `watchpost check`; `save` is the file for the frame. */
export type CheckOptions = {
  url: string;
  condition: string;
  mode: InputMode;
  clipSeconds: number;
  save: string;
};

/** Meter that counts nothing: the command runs without a service. */
const countingNothing = { count: async () => undefined };
/** Caller of the check: the command runs without a service. */
const operator = 'operator';

/**
 * Checks a condition once without the service (`watchpost check URL CONDITION`); prints the verdict and saves the
 * frame.
 */
export async function check(
  options: CheckOptions,
  settings: Settings,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await requireReachable(options.url, settings.allowRanges);
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  const platforms = await loadPlatformSettings(settings);
  using folder = openTemporaryFolder('watchpost-check-');
  const { http, streams } = createCaptureScheduler({
    egress: { allowRanges: settings.allowRanges },
    platforms,
    ffmpegPath: ffmpeg.path,
    tempDir: folder.path,
    now: () => new Date(),
  });
  const vision = createVisionModel(settings, ffmpeg.path);
  const waiting = terminal.waiting(`Checking ${maskUrl(options.url)}`);
  const startedMs = performance.now();
  try {
    const { verdict, capture } = await checkOnce(options, operator, {
      streams,
      turns: unlimitedTurns,
      vision,
      limits: createLimits(settings),
      now: () => new Date(),
      meter: countingNothing,
      usage: { charge: (_, call) => call() },
    });
    const file = resolve(options.save);
    await writeFile(file, capture.frame);
    waiting.done();
    const answer = {
      triggered: verdict.triggered,
      explanation: verdict.explanation,
      latency_ms: Math.round(performance.now() - startedMs),
      frame: file,
      model: vision.model,
    };
    if (asJson) terminal.print(JSON.stringify(answer));
    else printAnswer(answer, terminal);
  } finally {
    waiting.done();
    await http.close();
  }
}

type Answer = { triggered: boolean; explanation: string; latency_ms: number; frame: string };

function printAnswer({ triggered, explanation, latency_ms, frame }: Answer, terminal: Terminal): void {
  terminal.print(`${triggered ? terminal.color.green('yes') : terminal.color.yellow('no')}  ${explanation}`);
  terminal.note(`frame ${frame}, ${latency_ms} ms`);
}
