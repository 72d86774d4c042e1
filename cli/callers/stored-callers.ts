import { readUsage } from '../../core/access/caller-usage.ts';
import { listCallerNames } from '../../core/access/callers.ts';
import { eraseCaller } from '../../core/access/erase-caller.ts';
import { operator } from '../../core/access/key-rights.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { usageQuerySchema } from '../../core/requests/usage.ts';
import type { UsageLedger } from '../../core/ports/usage-ledger.ts';
import { readAllUsage } from './caller-backend.ts';
import type { CallerBackend } from './caller-backend.ts';

const pageSize = 1000;

export type StoredCallersDeps = Pick<CoreDeps, 'callers' | 'now'> & {
  usage: Pick<UsageLedger, 'days'>;
  /** Opens what an erasure removes from. Throws `CommandError` if it is out of reach. */
  openErasure: () => Promise<Pick<CoreDeps, 'eraser' | 'executions' | 'media'>>;
};

/** Creates a backend on a store. Access to the store makes the user an operator with all permissions. */
export function storedCallers(deps: StoredCallersDeps, close: () => Promise<void>): CallerBackend {
  return {
    names: async () => listCallerNames(deps),
    usage: ({ from, to, caller }) =>
      readAllUsage(async (after) => {
        const asked = { from, to, caller, all: caller === undefined, after, limit: pageSize };
        return readUsage(operator, usageQuerySchema.parse(asked), deps);
      }),
    erase: async (caller) =>
      eraseCaller(operator, caller, {
        ...(await deps.openErasure()),
        callers: deps.callers,
        recentLog: { entries: async () => [] },
        log: silent,
        now: deps.now,
      }),
    close,
  };
}

const ignore = () => undefined;
/** The command prints what was removed. */
const silent = { debug: ignore, info: ignore, warning: ignore, error: ignore };
