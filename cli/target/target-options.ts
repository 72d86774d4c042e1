import { createClient, type Watchpost } from '../../client/index.ts';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import type { KeyTarget } from './select-target.ts';
import { addSettings } from '../settings.ts';
import { parseSettings } from '../parse-options.ts';
import { CommandError } from '../command-error.ts';
import { readCredentials } from '../credentials.ts';

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

/**
 * Target service of a command that calls the API: by address, by the stack on AWS, or the one of this machine by its
 * data directory.
 */
type ServiceTarget = {
  dataDir: string;
  baseUrl?: string | undefined;
  stack?: string | undefined;
  key?: string | undefined;
};

/**
 * Creates a client of the target service. Throws `CommandError` if the target is ambiguous, unknown, or its key is
 * missing.
 */
async function openServiceClient({ dataDir, baseUrl, stack, key }: ServiceTarget): Promise<Watchpost> {
  if (baseUrl !== undefined && stack !== undefined)
    throw new CommandError('Two services are named', 'Use only one of --base-url and --stack.');
  if (baseUrl === undefined && stack === undefined) return localClient(dataDir, key);
  if (key === undefined)
    throw new CommandError(
      'The service requires a key',
      'Set --key or WATCHPOST_KEY; it needs the scope jobs.',
    );
  if (baseUrl !== undefined) return createClient({ baseUrl: requireUrl(baseUrl), apiKey: key });
  // Imported on demand: the AWS clients load slower than the rest of the command line.
  const { findBaseUrl } = await import('./stack-outputs.ts');
  return createClient({ baseUrl: await findBaseUrl(stack ?? ''), apiKey: key });
}

async function localClient(dataDir: string, key: string | undefined): Promise<Watchpost> {
  const credentials = await readCredentials(dataDir);
  if (credentials) return createClient({ baseUrl: credentials.base_url, apiKey: key ?? credentials.api_key });
  throw new CommandError(
    `No service has started with the data directory ${dataDir}`,
    'Start it with: npm run watchpost -- start. Or set --data-dir, --base-url with --key, or --stack.',
  );
}

function requireUrl(baseUrl: string): string {
  if (/^https?:\/\//.test(baseUrl) && URL.canParse(baseUrl)) return baseUrl;
  throw new CommandError(
    `${JSON.stringify(baseUrl)} is not a base URL`,
    'Use the base URL of the service, such as https://HOST/api.',
  );
}
