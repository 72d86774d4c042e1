import { createCallerEraser } from '../../adapters/embedded/callers/caller-eraser.ts';
import { createCallerStore } from '../../adapters/embedded/callers/caller-store.ts';
import { DataDirectoryError } from '../../adapters/embedded/files/data-directory-error.ts';
import { removeDeleted } from '../../adapters/embedded/sqlite/vacuum.ts';
import { lockDirectory } from '../../adapters/embedded/files/directory-lock.ts';
import { createMediaStore } from '../../adapters/embedded/files/media-store.ts';
import { createUsageLedger } from '../../adapters/embedded/callers/usage-ledger.ts';
import { CommandError } from '../command-error.ts';
import { readCredentials } from '../credentials.ts';
import { openDataDirectory } from '../target/open-data-directory.ts';
import { selectTarget } from '../target/select-target.ts';
import type { KeyTarget } from '../target/select-target.ts';
import { readAllUsage } from './caller-backend.ts';
import type { CallerBackend } from './caller-backend.ts';
import { storedCallers } from './stored-callers.ts';
import { callerListResponseSchema, erasureResponseSchema } from '../../core/responses/access.ts';
import { usageResponseSchema } from '../../core/responses/observability.ts';
import { createServiceRequests } from '../target/service-requests.ts';

const now = () => new Date();

/** Opens the callers of the target. `all` requests those of all callers over HTTP, which requires an admin key. */
export async function openCallerBackend(
  target: KeyTarget,
  { all }: { all: boolean },
): Promise<CallerBackend> {
  const selected = selectTarget(target);
  switch (selected.kind) {
    case 'remote':
      return remoteCallers(selected.baseUrl, selected.key, { all });
    case 'local':
      return localCallers(selected.dataDir);
    case 'deployed': {
      // Imported on demand: the AWS clients load slower than the rest of the command line.
      const { deployedCallers } = await import('./deployed-callers.ts');
      return deployedCallers(selected.which);
    }
  }
}

/**
 * Opens the data directory of this machine's service. Usage is read beside a running service; an erasure is its task.
 */
function localCallers(dataDir: string): CallerBackend {
  const { paths, database } = openDataDirectory(dataDir);
  const stores = { callers: createCallerStore(database), usage: createUsageLedger(database), now };
  let unlock: (() => void) | undefined;
  const stored = storedCallers(
    {
      ...stores,
      openErasure: async () => {
        unlock ??= await lockDirectory(paths.path);
        return {
          eraser: createCallerEraser(database),
          media: createMediaStore(paths.media),
          executions: noExecutions,
        };
      },
    },
    async () => {
      unlock?.();
      database.close();
    },
  );
  return {
    ...stored,
    erase: async (caller) => {
      try {
        const erasure = await stored.erase(caller);
        // Otherwise the next start of the service does it, as during a backup.
        await removeDeleted(database).catch(() => undefined);
        return erasure;
      } catch (error) {
        if (!(error instanceof DataDirectoryError)) throw error;
        return eraseByService(caller, dataDir);
      }
    },
  };
}

/** Erases by the running service, which has the executions of the caller. */
async function eraseByService(caller: string, dataDir: string) {
  const credentials = await readCredentials(dataDir);
  if (!credentials)
    throw new CommandError(
      'The service is starting or stopping',
      'Repeat the command when it runs, or after it has ended.',
    );
  const service = remoteCallers(credentials.base_url, credentials.internal_api_key, { all: true });
  try {
    return await service.erase(caller);
  } finally {
    await service.close();
  }
}

/** Without a running service there are no executions; the eraser removes their stored state. */
const noExecutions = {
  start: async () => 'already' as const,
  stop: async () => undefined,
  status: async () => undefined,
  runsHere: () => false,
};

/** Creates a backend for a service at a base URL, with the permissions of the given key. */
function remoteCallers(baseUrl: string, key: string, { all }: { all: boolean }): CallerBackend {
  const { ask, close } = createServiceRequests(baseUrl, key);
  return {
    names: async () => {
      const names: string[] = [];
      for (let after: string | null = ''; after !== null;) {
        const query: string = new URLSearchParams({
          limit: '1000',
          ...(after !== '' && { after }),
        }).toString();
        const page = await ask('GET', `/callers?${query}`, callerListResponseSchema);
        names.push(...page.callers.map(({ caller }) => caller));
        after = page.next_after;
      }
      return names;
    },
    usage: ({ from, to, caller }) =>
      readAllUsage(async (after) => {
        const query = new URLSearchParams({
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          ...(caller !== undefined && { caller }),
          ...(caller === undefined && all && { all: 'true', limit: '1000' }),
          ...(after !== undefined && { after }),
        });
        return ask('GET', `/usage?${query.toString()}`, usageResponseSchema).catch(explainScope);
      }),
    erase: (caller) => ask('DELETE', `/callers/${encodeURIComponent(caller)}`, erasureResponseSchema),
    close,
  };
}

/** Replaces the remediation of the API by that of the command. */
function explainScope(error: unknown): never {
  if (!(error instanceof CommandError) || error.message !== 'Access denied') throw error;
  throw new CommandError(
    error.message,
    'Use a key with the scope admin, or --own for the use of its caller.',
    { cause: error },
  );
}
