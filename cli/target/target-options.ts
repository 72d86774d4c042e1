import type { Watchpost } from '../../client/index.ts';
import { openServiceClient } from './service-client.ts';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import type { KeyTarget } from './select-target.ts';
import { addSettings } from '../settings.ts';
import { parseSettings } from '../parse-options.ts';

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

const serviceOptions = placeOptions.omit({ table: true });

/** Adds the options that select a service whose endpoints are called; `--data-dir` is that of this machine. */
export function addService(command: Command): Command {
  return addSettings(command, ['dataDir'])
    .option('--base-url <url>', 'base URL of a service; requires --key')
    .option(
      '--stack <name>',
      'name of a stack on AWS, whose base URL your AWS credentials find; requires --key',
    )
    .addOption(
      new Option('--key <key>', 'key with the scope jobs; apply also needs keys').env('WATCHPOST_KEY'),
    );
}

/** Opens the service in the options of `addService`. */
export async function openService(raw: unknown): Promise<Watchpost> {
  return openServiceClient({ ...serviceOptions.parse(raw), dataDir: parseSettings(raw).dataDir });
}
