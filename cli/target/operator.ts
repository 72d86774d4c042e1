import { existsSync } from 'node:fs';
import { createCallerEraser, createCallerStore } from '../../adapters/embedded/callers/caller-store.ts';
import { createKeyStore } from '../../adapters/embedded/callers/key-store.ts';
import { createUsageLedger } from '../../adapters/embedded/callers/usage.ts';
import { DataDirectoryError } from '../../adapters/embedded/files/create-folder.ts';
import { dataPaths, lockDirectory } from '../../adapters/embedded/files/data-directory.ts';
import { createMediaStore } from '../../adapters/embedded/files/media-store.ts';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { removeDeleted } from '../../adapters/embedded/sqlite/vacuum.ts';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import { createClient, WatchpostError } from '../../client/index.ts';
import { CommandError } from '../command-error.ts';
import { readCredentials } from '../credentials.ts';
import { selectTarget, type KeyTarget } from './select-target.ts';
import { storedOperator, type Operator } from './stored-operator.ts';
import { parseTarget } from './target-options.ts';

/** Opens the target. Throws `CommandError` if several services are named or a key is missing. */
export async function openOperator(target: KeyTarget): Promise<Operator> {
  const selected = selectTarget(target);
  switch (selected.kind) {
    case 'remote':
      return {
        ...createTimedClient(selected.baseUrl, selected.key),
        close: async () => undefined,
      };
    case 'local':
      return localOperator(selected.dataDir);
    case 'deployed': {
      // Imported on demand: the AWS clients load slower than the rest of the command line.
      const { deployedOperator } = await import('./deployed-operator.ts');
      return deployedOperator(selected.which);
    }
  }
}

/** Does some work with the target in the options of `addPlace`. */
export async function withOperator(raw: unknown, work: (operator: Operator) => Promise<void>): Promise<void> {
  const operator = await openOperator(parseTarget(raw));
  try {
    await work(operator);
  } finally {
    await operator.close();
  }
}

export async function readPages<Page extends { next_after: string | null }>(
  readPage: (position: { after?: string; limit: number }) => Promise<Page>,
): Promise<[Page, ...Page[]]> {
  const limit = 1000;
  const first = await readPage({ limit });
  const others: Page[] = [];
  for (let after = first.next_after; after !== null; after = others.at(-1)?.next_after ?? null)
    others.push(await readPage({ after, limit }));
  return [first, ...others];
}

/** Returns the names of all callers, or of those whose keys the key may see. */
export async function listCallerNames(operator: Operator): Promise<string[]> {
  const pages = await readPages((position) => operator.listCallers(position)).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    return undefined;
  });
  const listed = pages
    ? pages.flatMap(({ callers }) => callers)
    : (await readPages((position) => operator.listKeys(position))).flatMap(({ keys }) => keys);
  return [...new Set(listed.map(({ caller }) => caller))];
}

/** Returns true if the key lacks a scope. */
export function isForbidden(error: unknown): boolean {
  return error instanceof WatchpostError && error.code === 'FORBIDDEN';
}

/**
 * Opens the data directory of this machine's service. Keys and usage are accessed beside a running service; an erasure
 * is its task.
 */
function localOperator(dataDir: string): Operator {
  const { paths, database } = openDataDirectory(dataDir);
  let unlock: (() => void) | undefined;
  const stored = storedOperator({
    keys: createKeyStore(database),
    callers: createCallerStore(database),
    usage: createUsageLedger(database),
    now: () => new Date(),
    ...nodeKeyCrypto,
    openErasure: async () => {
      unlock ??= await lockDirectory(paths.path);
      return {
        eraser: createCallerEraser(database),
        media: createMediaStore(paths.media),
        executions: noExecutions,
      };
    },
  });
  return {
    ...stored,
    deleteCaller: async (caller) => {
      try {
        const erasure = await stored.deleteCaller(caller);
        // Otherwise the next start of the service does it, as during a backup.
        await removeDeleted(database).catch(() => undefined);
        return erasure;
      } catch (error) {
        if (!(error instanceof DataDirectoryError)) throw error;
        return eraseByService(caller, dataDir);
      }
    },
    close: async () => {
      unlock?.();
      database.close();
    },
  };
}

/** Creates a client whose requests end with an error if a service is silent. */
function createTimedClient(baseUrl: string, apiKey: string) {
  return createClient({ baseUrl, apiKey, fetch: fetchInTime });
}

async function fetchInTime(...[address, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
  return globalThis.fetch(address, { ...init, signal: AbortSignal.timeout(30_000) });
}

/** Erases by the running service, which has the executions of the caller. */
async function eraseByService(caller: string, dataDir: string) {
  const credentials = await readCredentials(dataDir);
  if (credentials)
    return createTimedClient(credentials.base_url, credentials.internal_api_key).deleteCaller(caller);
  throw new CommandError(
    'The service is starting or stopping',
    'Repeat the command when it runs, or after it has ended.',
  );
}

/** Without a running service there are no executions; the eraser removes their stored state. */
const noExecutions = {
  start: async () => 'already' as const,
  stop: async () => undefined,
  status: async () => undefined,
  runsHere: () => false,
};

/** Opens the data directory of this machine's service, which may be running. */
function openDataDirectory(dataDir: string) {
  const paths = dataPaths(dataDir);
  if (!existsSync(paths.database))
    throw new CommandError(
      `No service has used the data directory ${paths.path}`,
      'Use --data-dir or WATCHPOST_DATA_DIR with the data directory of the service. Its first start creates it.',
    );
  return { paths, database: openDatabase(paths.database) };
}
