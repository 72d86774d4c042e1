import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { inputModeSchema, type InputMode } from '../core/records/capture.ts';
import { readSettings, type Settings } from './settings.ts';

export const visionSettings = [
  'vision',
  'visionModel',
  'visionPrompt',
  'visionWidth',
  'openaiUrl',
  'openaiApiKey',
  'projector',
  'localThreads',
  'localContext',
  'localMemoryMb',
  'localRuntime',
] as const;

/** Reads the settings of a command from its options and the environment. Throws `SettingsError`. */
export function parseSettings(raw: unknown): Settings {
  return readSettings(z.record(z.string(), z.unknown()).parse(raw), process.env);
}

/** Returns true if the command has `--json`. */
export function wantsJson(raw: unknown): boolean {
  return z.object({ json: z.boolean().default(false) }).parse(raw).json;
}

/** Returns a parser of numbers in a range, which throws `InvalidArgumentError`. */
export function between(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Use a number from ${min} to ${max}.`);
  };
}

/** Returns the numbers from 1 to `count`, as choices of an option. */
export function upTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1));
}

/**
 * Parses a condition. Throws `InvalidArgumentError` for a blank one, which the interface allows and which no check can
 * answer.
 */
export function parseCondition(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('Use a sentence that is true or false of the stream.');
  return text;
}

/** Collects the values of an option that can be repeated. */
export function append(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Parses an input mode. Throws `InvalidArgumentError`. */
export function parseMode(text: string): InputMode {
  const mode = inputModeSchema.safeParse(text);
  if (mode.success) return mode.data;
  throw new InvalidArgumentError(`Use a mode of ${inputModeSchema.options.join(', ')}.`);
}

/** Collects the modes of an option that can be repeated. Throws `InvalidArgumentError`. */
export function appendMode(text: string, before: InputMode[] = []): InputMode[] {
  return [...before, parseMode(text)];
}

/** Options of `addCaptureOptions`. */
export const captureOptions = { mode: inputModeSchema, clipSeconds: z.string().transform(Number) };

/** Adds the options that select the input of the model. */
export function addCaptureOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--mode <mode>', 'input of the model').choices(inputModeSchema.options).default('frames'),
    )
    .addOption(
      new Option('--clip-seconds <seconds>', 'length of the clip in seconds, 1 to 10')
        .choices(upTo(10))
        .default('3'),
    );
}
