import { createClient, type Watchpost } from '../../client/index.ts';
import { CommandError } from '../command-error.ts';
import { readCredentials } from '../credentials.ts';

/** Target service of a command that calls the API: by address, by the stack on AWS, or the one of this machine by its data directory. */
export type ServiceTarget = {
  dataDir: string;
  baseUrl?: string | undefined;
  stack?: string | undefined;
  key?: string | undefined;
};

/** Creates a client of the target service. Throws `CommandError` if the target is ambiguous, unknown, or its key is missing. */
export async function openServiceClient({ dataDir, baseUrl, stack, key }: ServiceTarget): Promise<Watchpost> {
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
  const found = await readCredentials(dataDir);
  if (found) return createClient({ baseUrl: found.base_url, apiKey: key ?? found.api_key });
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
