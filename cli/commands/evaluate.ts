import { writeFile } from 'node:fs/promises';
import type { InputMode } from '../../core/records/capture.ts';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { resizeJpeg } from '../../adapters/media/ffmpeg/resize-jpeg.ts';
import type { PromptName } from '../../adapters/vision/prompt-variants.ts';
import { withPictureWidth } from '../../adapters/vision/picture-width.ts';
import { CommandError } from '../command-error.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { evaluateVariant, type VariantResult } from '../evaluate/evaluate-variant.ts';
import { readExampleMedia } from '../evaluate/example-media.ts';
import { createChosenModel } from '../evaluate/model-choice.ts';
import { describeLabels, printResults, variantName } from '../evaluate/print-results.ts';
import { readLabelledSet, type LabelledExample } from '../evaluate/read-set.ts';
import { createEvaluationReport } from '../evaluate/report.ts';
import type { Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { openTemporaryFolder } from '../temporary-folder.ts';

/** Measure that a variant must reach, such as recall of at least 0.95. */
export type Requirement = { measure: 'precision' | 'recall' | 'f1'; minimum: number };

/** Arguments of `watchpost evaluate`. Empty lists: the model and the prompt of the settings, mode frames, frames as they are. */
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
 * Evaluates models, modes and widths with a labelled set (`watchpost evaluate SET`); prints the scores. Throws `CommandError` if a variant
 * misses a requirement.
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
        readMedia: readMedia(mode, vision.usesPrevious),
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
