import { callerListResponseSchema, erasureResponseSchema } from '../../core/responses/access.ts';
import { usageResponseSchema } from '../../core/responses/usage.ts';
import { CommandError } from '../command-error.ts';
import { createServiceRequests } from '../target/service-requests.ts';
import { readAllUsage } from './caller-backend.ts';
import type { CallerBackend } from './caller-backend.ts';

/** Creates a backend for a service at a base URL, with the permissions of the given key. */
export function remoteCallers(baseUrl: string, key: string, { all }: { all: boolean }): CallerBackend {
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
