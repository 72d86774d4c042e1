import { writeFile } from 'node:fs/promises';
import { inputModeSchema, type InputMode } from '../../core/records/capture.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { resizeJpeg } from '../../adapters/media/ffmpeg/resize-jpeg.ts';
import { promptNames, type PromptName } from '../../adapters/vision/prompt-variants.ts';
import { withPictureWidth } from '../../adapters/vision/picture-width.ts';
import { CommandError } from '../command-error.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { evaluateVariant, type VariantResult } from '../evaluate/evaluate-variant.ts';
import { readExampleMedia } from '../evaluate/example-media.ts';
import { createChosenModel } from '../evaluate/model-choice.ts';
import { describeLabels, printResults, variantName } from '../evaluate/print-results.ts';
import { readLabelledSet, type LabelledExample } from '../evaluate/read-set.ts';
import { createEvaluationReport } from '../evaluate/report.ts';
import { addSettings, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import {
  append,
  appendMode,
  between,
  parseSettings,
  upTo,
  visionSettings,
  wantsJson,
} from '../parse-options.ts';

const evaluateOptions = z.object({
  model: z.array(z.string()).default([]),
  mode: z.array(inputModeSchema).default([]),
  width: z.array(z.int()).default([]),
  prompt: z.array(z.enum(promptNames)).default([]),
  clipSeconds: z.string(),
  repeat: z.number(),
  atOnce: z.number(),
  tag: z.string().optional(),
  report: z.string().optional(),
  atLeast: z
    .array(z.object({ measure: z.enum(['precision', 'recall', 'f1']), minimum: z.number() }))
    .default([]),
});

export function addEvaluate(program: Command, terminal: Terminal): void {
  addSettings(program.command('evaluate <set>'), ['ffmpeg', ...visionSettings], { second: false })
    .description(
      'measure precision and recall of models with a labelled set: a file or folder, or basic for the built-in set',
    )
    .option(
      '--model <provider[:model]>',
      'model to evaluate, such as objects or openai:llava; repeatable',
      append,
    )
    .option('--mode <mode>', 'input of the model: frames, clip or hybrid; repeatable', appendMode)
    .addOption(
      new Option('--prompt <name>', `prompt of the model: ${promptNames.join(', ')}; repeatable`).argParser(
        appendPrompt,
      ),
    )
    .addOption(
      new Option(
        '--width <pixels>',
        'width of the frames that the model receives, such as 448,672',
      ).argParser(parseWidths),
    )
    .addOption(
      new Option('--clip-seconds <seconds>', 'length of the clip in seconds, 1 to 10')
        .choices(upTo(10))
        .default('3'),
    )
    .addOption(
      new Option('--repeat <count>', 'times that each example is asked')
        .default(1)
        .argParser(between(1, 100)),
    )
    .addOption(new Option('--at-once <count>', 'concurrent examples').default(1).argParser(between(1, 64)))
    .option('--tag <tag>', 'evaluate examples with this tag only')
    .option('--report <file>', 'write an HTML page with the pictures of the mistakes')
    .addOption(
      new Option(
        '--at-least <measure=minimum>',
        'fail if a model has less, such as recall=0.95; measures: precision, recall, f1; repeatable',
      ).argParser(parseRequirement),
    )
    .option('--json', 'print the results as JSON')
    .action(async (set: string, raw: unknown) => {
      const { model, mode, width, prompt, clipSeconds, atLeast, ...rest } = evaluateOptions.parse(raw);
      const variants = {
        models: model,
        modes: mode,
        widths: width,
        prompts: prompt,
        clipSeconds: Number(clipSeconds),
      };
      const { repeat, atOnce, tag, report } = rest;
      const options = { set, repeat, atOnce, tag, report, requirements: atLeast, ...variants };
      await evaluate(options, parseSettings(raw), terminal, wantsJson(raw));
    });
}

function appendPrompt(text: string, before: string[] = []): string[] {
  if (promptNames.some((name) => name === text)) return [...before, text];
  throw new InvalidArgumentError(`Use one of ${promptNames.join(', ')}.`);
}

function parseWidths(text: string): number[] {
  const widths = text.split(',').map(Number);
  if (widths.every((width) => Number.isInteger(width) && width >= 64 && width <= 4096)) return widths;
  throw new InvalidArgumentError('Use whole numbers from 64 to 4096, separated by commas.');
}

function parseRequirement(text: string, before: object[] = []): object[] {
  const [, measure, minimum] = /^(precision|recall|f1)=(0(?:\.\d+)?|1(?:\.0+)?)$/.exec(text) ?? [];
  if (measure === undefined)
    throw new InvalidArgumentError(
      'Use precision, recall or f1 with a number from 0 to 1, such as recall=0.95.',
    );
  return [...before, { measure, minimum: Number(minimum) }];
}

/** Measure that a variant must reach, such as recall of at least 0.95. */
export type Requirement = { measure: 'precision' | 'recall' | 'f1'; minimum: number };

/**
 * Arguments of `watchpost evaluate`. Empty lists: the model and the prompt of the settings, mode frames, frames as they
 * are.
 */
export type EvaluateOptions = {
  set: string;
  tag: string | undefined;
  models: string[];
  modes: InputMode[];
  widths: number[];
  prompts: PromptName[];
  clipSeconds: number;
  repeat: number;
  atOnce: number;
  report: string | undefined;
  requirements: Requirement[];
};

/**
 * Evaluates models, modes and widths with a labelled set (`watchpost evaluate SET`); prints the scores. Throws
 * `CommandError` if a variant misses a requirement.
 */
export async function evaluate(
  options: EvaluateOptions,
  settings: Settings,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  const set = await readLabelledSet(options.set, options.tag);
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  using folder = openTemporaryFolder('watchpost-evaluate-');
  const runner = createFfmpegRunner({ ffmpegPath: ffmpeg.path, tempDir: folder.path });
  const { signal } = new AbortController();
  const readMedia =
    (mode: InputMode, withPrevious = false) =>
    async (example: LabelledExample) =>
      readExampleMedia(
        example,
        set.folder,
        { mode, clipSeconds: options.clipSeconds, withPrevious },
        runner,
        signal,
      );
  const variants = listVariants(options, settings);
  const progress = countProgress(variants.length * set.examples.length * options.repeat, terminal);
  const results: VariantResult[] = [];
  try {
    for (const { model, mode, width, prompt } of variants) {
      const { name, vision } = createChosenModel(
        model,
        prompt === null ? settings : { ...settings, visionPrompt: prompt },
        ffmpeg.path,
      );
      const resize = async (jpeg: Uint8Array, widthPixels: number, during: AbortSignal) =>
        resizeJpeg(jpeg, widthPixels, ffmpeg.path, during);
      const deps = {
        vision: width === null ? vision : withPictureWidth(vision, width, resize),
        readMedia: readMedia(mode, vision.capabilities.usesPrevious),
        elapsedMs: () => performance.now(),
        onProgress: progress.step,
      };
      results.push(
        await evaluateVariant({ model: name, mode, width, prompt }, set.examples, options, deps, signal),
      );
    }
    progress.done();
    if (asJson) terminal.print(JSON.stringify({ set: options.set, unlabelled: set.unlabelled, results }));
    else printResults(results, terminal);
    for (const line of describeLabels(set.examples, options.modes)) terminal.note(line);
    if (set.unlabelled > 0) terminal.note(`${set.unlabelled} examples without a label were left out.`);
    if (options.report !== undefined) {
      const report = await createEvaluationReport(options.set, results, set.examples, readMedia('frames'));
      await writeFile(options.report, report);
      terminal.note(`report ${options.report}`);
    }
  } finally {
    progress.done();
  }
  requireAnswers(results);
  requireMinimum(results, options.requirements);
}

/** Throws `CommandError` if a model answered nothing: its scores are those of no model. */
function requireAnswers(results: readonly VariantResult[]): void {
  const silent = results.filter(({ calls, failed_calls: failed }) => failed === calls);
  if (silent.length === 0) return;
  throw new CommandError(
    silent.map((result) => `${variantName(result)} gave no answer: ${result.failure ?? ''}`).join('\n'),
    'Test the model with watchpost doctor.',
  );
}

function listVariants({ models, modes, widths, prompts }: EvaluateOptions, settings: Settings) {
  return orDefault(models, settings.vision).flatMap((model) =>
    orDefault<InputMode>(modes, 'frames').flatMap((mode) =>
      orDefault<number | null>(widths, null).flatMap((width) =>
        orDefault<PromptName | null>(prompts, null).map((prompt) => ({ model, mode, width, prompt })),
      ),
    ),
  );
}

function countProgress(total: number, terminal: Terminal) {
  let count = 0;
  const waiting = terminal.waiting(`Asking ${total} ${total === 1 ? 'time' : 'times'}`);
  return {
    step: () => {
      count += 1;
      waiting.update(`Asked ${count} of ${total}`);
    },
    done: () => waiting.done(),
  };
}

function requireMinimum(results: readonly VariantResult[], requirements: readonly Requirement[]): void {
  const missed = results.flatMap((result) =>
    requirements
      .filter(({ measure, minimum }) => (result.score[measure]?.value ?? 0) < minimum)
      .map(({ measure, minimum }) => {
        const value = result.score[measure]?.value;
        return `${variantName(result)}: ${measure} is ${value?.toFixed(3) ?? 'unknown'}, less than ${minimum}`;
      }),
  );
  if (missed.length > 0)
    throw new CommandError(
      missed.join('; '),
      'Look at the mistakes with --report FILE; then reword the condition, or choose another model or mode.',
    );
}

function orDefault<Value>(values: readonly Value[], value: Value): readonly Value[] {
  return values.length > 0 ? values : [value];
}
