import { Option, type Command } from 'commander';
import { z } from 'zod';
import type { KeyTarget } from './select-target.ts';
import { addSettings } from '../settings.ts';
import { parseSettings } from '../program/parse-options.ts';

const placeOptions = z.object({
  baseUrl: z.string().optional(),
  key: z.string().optional(),
  stack: z.string().optional(),
  table: z.string().optional(),
});

/** Adds the options that select the service; `--data-dir` is that of this machine. */
export function addPlace(command: Command): Command {
  return addSettings(command, ['dataDir'])
    .option('--base-url <url>', 'base URL of a running service; requires --key')
    .addOption(
      new Option('--key <key>', 'key of that service; an admin key for other callers').env('WATCHPOST_KEY'),
    )
    .option('--stack <name>', 'name of a stack on AWS, accessed with your AWS credentials')
    .option('--table <name>', 'TableName of a deployment on AWS, instead of --stack');
}

/** Reads the options of `addPlace`. */
export function parseTarget(raw: unknown): KeyTarget {
  return { ...placeOptions.parse(raw), dataDir: parseSettings(raw).dataDir };
}
