import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { inputModeSchema, type InputMode } from '../../core/records/capture.ts';
import type { WatchRequest } from '../../core/requests/watches.ts';
import { createMaskMedia, maskCaptures } from '../../adapters/media/images/mask-media.ts';
import { compareMotion } from '../../adapters/media/motion/compare-motion.ts';
import { createCutFrame, createDrawBoxes } from '../../adapters/media/images/draw-boxes.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { listRecordings } from '../../adapters/recordings/list-recordings.ts';
import { probeRecording } from '../../adapters/recordings/probe-recording.ts';
import { createRecordingCapturer } from '../../adapters/recordings/recording-capturer.ts';
import { RecordingError } from '../../adapters/recordings/recording-error.ts';
import { arrangeTimeline, fileAt, nextStart, type Timeline } from '../../adapters/recordings/timeline.ts';
import { decodedFramesPerSecond } from '../../adapters/vision/objects/object-moments.ts';
import { mapConcurrently } from '../../adapters/vision/map-concurrently.ts';
import { CommandError } from '../command-error.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { priceTokens } from '../evaluate/model-choice.ts';
import { openSetWriter } from '../evaluate/set-writer.ts';
import { createLimits } from '../service/limits.ts';
import { createCachedVision, type CachedVision } from '../replay/cached-vision.ts';
import { play, type PlayDeps } from '../replay/play.ts';
import { printResult, printSweep, formatTime, toResult } from '../replay/result.ts';
import { createReplayWatch, readReplayRequest } from '../replay/replay-watch.ts';
import type { ReplayRules, ReplaySettings } from '../replay/replay-watch.ts';
import { createReplayReport, type ReportedReplay } from '../replay/report.ts';
import { addSettings, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { createVisionModel } from '../service/vision-model.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import {
  append,
  between,
  parseCondition,
  parseMode,
  parseSettings,
  upTo,
  visionSettings,
  wantsJson,
} from '../parse-options.ts';

const replayOptions = z.object({
  condition: z.array(z.string()).default([]),
  conditions: z.string().optional(),
  watch: z.string().optional(),
  interval: z.number().optional(),
  mode: inputModeSchema.optional(),
  clipSeconds: z.string().optional(),
  prefilter: z.boolean(),
  camera: z.string().optional(),
  sweep: z.object({ intervals: z.array(z.number()), modes: z.array(inputModeSchema) }),
  report: z.string().optional(),
  saveSet: z.string().optional(),
  cache: z.boolean(),
});

export function addReplay(program: Command, terminal: Terminal): void {
  addSettings(program.command('replay <file...>'), ['ffmpeg', ...visionSettings])
    .description('play recordings as if they were live, and print the alerts that a watch would have opened')
    .option('--condition <text>', 'condition to check; repeatable', append)
    .option('--conditions <file>', 'file with one condition per line')
    .option('--watch <file>', 'file with a watch (JSON or YAML), as for POST /watches')
    .addOption(
      new Option('--interval <seconds>', 'seconds between checks; default: of the watch, or 10').argParser(
        between(1, 300),
      ),
    )
    .addOption(
      new Option('--mode <mode>', 'input of the model; default: of the watch, or frames').choices(
        inputModeSchema.options,
      ),
    )
    .addOption(
      new Option('--clip-seconds <seconds>', 'length of the clip in seconds, 1 to 10').choices(upTo(10)),
    )
    .option('--no-prefilter', 'check every capture, also without motion')
    .option('--camera <name>', "one of the cameras in Frigate's folders")
    .addOption(
      new Option('--sweep <settings...>', 'compare settings, such as: interval=5,10,30 mode=frames,clip')
        .default({ intervals: [], modes: [] }, 'none')
        .argParser(parseSweep),
    )
    .option('--report <file>', 'write an HTML page with time line and pictures')
    .option('--save-set <folder>', 'save judged frames and verdicts as a set to label')
    .option('--no-cache', 'repeat model calls for frames with a stored verdict')
    .option('--json', 'print the result as JSON')
    .action(async (files: string[], raw: unknown) => {
      const parsed = replayOptions.parse(raw);
      const { condition, conditions, watch, clipSeconds, prefilter, sweep, ...rest } = parsed;
      const { interval, mode, camera, report, saveSet, cache } = rest;
      await replay(
        {
          files,
          conditions: condition.map(parseCondition),
          conditionsFile: conditions,
          watchFile: watch,
          interval,
          mode,
          clipSeconds: clipSeconds === undefined ? undefined : Number(clipSeconds),
          prefilter: prefilter ? undefined : false,
          camera,
          sweep,
          report,
          saveSet,
          cache,
        },
        parseSettings(raw),
        terminal,
        wantsJson(raw),
      );
    });
}

type Sweep = { intervals: number[]; modes: InputMode[] };

/** Adds `interval=5,10` or `mode=frames,clip` to a sweep. Throws `InvalidArgumentError`. */
function parseSweep(setting: string, before: Sweep): Sweep {
  const [name, list = ''] = setting.split('=', 2);
  if (name === 'interval')
    return { ...before, intervals: [...before.intervals, ...list.split(',').map(between(1, 300))] };
  if (name === 'mode') return { ...before, modes: [...before.modes, ...list.split(',').map(parseMode)] };
  throw new InvalidArgumentError('Use --sweep interval=5,10,30 mode=frames,clip.');
}

/** Arguments of `watchpost replay`. A sweep replaces interval and mode by all combinations. */
export type ReplayOptions = ReplayRules &
  ReplaySettings & {
    files: string[];
    camera: string | undefined;
    sweep: { intervals: number[]; modes: InputMode[] };
    report: string | undefined;
    saveSet: string | undefined;
    cache: boolean;
  };

/**
 * Plays recordings as if they were live (`watchpost replay FILE…`) and prints the alerts. Ctrl-C ends the playback and
 * keeps what was done.
 */
export async function replay(
  options: ReplayOptions,
  settings: Settings,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  const request = await readReplayRequest(options);
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  using folder = openTemporaryFolder('watchpost-replay-');
  const waiting = terminal.waiting('Reading the recordings');
  try {
    const timeline = await readTimeline(options, ffmpeg.path, terminal, interrupt.signal);
    const context = {
      timeline,
      ffmpegPath: ffmpeg.path,
      tempDir: folder.path,
      settings,
      terminal,
      request,
      waiting,
    };
    const replays: ReportedReplay[] = [];
    for (const variant of listVariants(options)) {
      if (interrupt.signal.aborted) break;
      replays.push(await replayOnce({ ...options, ...variant }, context, interrupt.signal));
    }
    waiting.done();
    printResults(
      replays.map(({ result }) => result),
      listVariants(options).length > 1,
      terminal,
      asJson,
    );
    if (options.report !== undefined) {
      const drawBoxes = createDrawBoxes({ ffmpegPath: ffmpeg.path });
      await writeFile(options.report, await createReplayReport(options.files, replays, drawBoxes));
      terminal.note(`report ${options.report}`);
    }
    if (options.saveSet !== undefined) {
      terminal.note(`set ${join(options.saveSet, 'set.jsonl')}`);
      terminal.note(`Label it: npm run watchpost -- label ${options.saveSet}`);
    }
  } finally {
    waiting.done();
    process.off('SIGINT', onInterrupt);
  }
}

function printResults(
  results: ReportedReplay['result'][],
  isSweep: boolean,
  terminal: Terminal,
  asJson: boolean,
): void {
  if (asJson) terminal.print(JSON.stringify(isSweep ? { sweep: results } : results[0]));
  else if (isSweep) printSweep(results, terminal);
  else for (const result of results) printResult(result, terminal);
}

type Context = {
  timeline: Timeline;
  ffmpegPath: string;
  tempDir: string;
  settings: Settings;
  terminal: Terminal;
  request: WatchRequest;
  waiting: ReturnType<Terminal['waiting']>;
};

async function replayOnce(
  options: ReplayOptions,
  context: Context,
  signal: AbortSignal,
): Promise<ReportedReplay> {
  const { timeline, ffmpegPath, settings, request, waiting } = context;
  const clock = { now: timeline.beginsAt };
  const watch = createReplayWatch(request, options, clock.now);
  const conditions = new Map(
    watch.config.conditions.map(({ condition_id, condition }) => [condition_id, condition]),
  );
  const model = createVisionModel(settings, ffmpegPath);
  const vision = options.cache
    ? createCachedVision(model, cacheFolder(), [settings.visionPrompt, settings.visionWidth])
    : { ...uncached, ...model };
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: context.tempDir });
  const recording = createRecordingCapturer({ timeline, ffmpegPath, ffmpeg, now: () => clock.now });
  const maskMedia = createMaskMedia({ ffmpegPath, tempDir: context.tempDir });
  const save = options.saveSet === undefined ? undefined : await openSetWriter(options.saveSet);
  const deps: PlayDeps = {
    streams: maskCaptures(recording, maskMedia),
    vision,
    compareMotion,
    cutFrame: createCutFrame({ ffmpegPath, framesPerSecond: decodedFramesPerSecond }),
    clock,
    nextRecorded: (seconds) => (fileAt(timeline, seconds) ? seconds : nextStart(timeline, seconds)),
    newId: randomUUID,
    limits: createLimits(settings),
    onCheck: saveChecks(conditions, save),
    onProgress: (seconds) =>
      waiting.update(`Replaying ${formatTime(seconds)} of ${formatTime(timeline.durationSeconds)}`),
  };
  try {
    const played = await play(watch, deps, signal);
    const { interval_seconds, input_mode } = watch.config;
    const result = toResult({ interval_seconds, input_mode }, played, {
      model: vision.model,
      remembered: vision.remembered(),
      usd: priceTokens(vision, played.tokens),
      recordingSeconds: timeline.durationSeconds,
      interrupted: signal.aborted,
    });
    return { result, played, conditions };
  } finally {
    await recording.close();
  }
}

/** Adds each judged frame to a set, to be labelled. */
function saveChecks(
  conditions: ReadonlyMap<string, string>,
  save: Awaited<ReturnType<typeof openSetWriter>> | undefined,
): PlayDeps['onCheck'] {
  return async ({ seconds, condition_id: id, triggered, explanation }, frame) => {
    if (!frame || triggered === null) return;
    const verdict = { triggered, explanation };
    const name = `${id} at ${seconds.toFixed(1)} s`;
    await save?.({ id: name, condition: conditions.get(id) ?? '', expected: null, frame, verdict });
  };
}

const uncached: Pick<CachedVision, 'remembered'> = { remembered: () => 0 };

function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'watchpost', 'verdicts');
}

function listVariants({ sweep, interval, mode }: ReplayOptions): ReplayVariantOptions[] {
  const intervals = sweep.intervals.length > 0 ? sweep.intervals : [interval];
  const modes = sweep.modes.length > 0 ? sweep.modes : [mode];
  return intervals.flatMap((one) => modes.map((other) => ({ interval: one, mode: other })));
}

type ReplayVariantOptions = Pick<ReplaySettings, 'interval' | 'mode'>;

/**
 * Reads the recordings. In a folder or list of several, those without video are left out with a note: a recorder may
 * still write the last one.
 */
async function readTimeline(
  { files, camera }: ReplayOptions,
  ffmpegPath: string,
  terminal: Terminal,
  signal: AbortSignal,
) {
  try {
    const paths = await listRecordings(files, camera);
    let unreadable: RecordingError | undefined;
    const probed = await mapConcurrently(paths, availableParallelism(), async (path) => {
      try {
        return { path, ...(await probeRecording(ffmpegPath, path, signal)) };
      } catch (error) {
        if (!(error instanceof RecordingError)) throw error;
        unreadable = error;
        if (paths.length > 1) terminal.note(`Left out: ${error.message}`);
        return undefined;
      }
    });
    const recordings = probed.filter((recording) => recording !== undefined);
    if (recordings.length === 0 && unreadable) throw unreadable;
    return arrangeTimeline(recordings);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    throw new CommandError(
      error.message,
      'docs/use/evaluate.md#replay-a-recording lists what can be replayed.',
      { cause: error },
    );
  }
}
