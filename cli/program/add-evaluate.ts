import { promptNames } from '../../adapters/vision/prompt-variants.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { inputModeSchema } from '../../core/records/capture.ts';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import {
  append,
  appendMode,
  between,
  parseSettings,
  upTo,
  visionSettings,
  wantsJson,
} from './parse-options.ts';

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

/** Adds `watchpost evaluate`. */
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
      const { evaluate } = await import('../commands/evaluate.ts');
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
