import { AsyncLocalStorage } from 'node:async_hooks';
import type { AsCaller } from '../../../core/ports/as-caller.ts';

/** Remembers for whom work is done, across its waits, so that what is shared can be fair by caller. */
export function createCurrentCaller(): { asCaller: AsCaller; currentCaller: () => string } {
  const callers = new AsyncLocalStorage<string>();
  return {
    asCaller: async (caller, work) => callers.run(caller, work),
    currentCaller: () => callers.getStore() ?? '',
  };
}
