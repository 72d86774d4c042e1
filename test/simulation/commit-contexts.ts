import type { AsyncLocalStorage } from 'node:async_hooks';
import type { WatchStore } from '../../core/ports/watch-store.ts';

type Pending<Context> = { context: Context | undefined };

/**
 * Knows who commits a change of a watch. Commits of one turn of the event loop share a transaction (`groupCommits`), so the context in which the
 * transaction ends is that of the first of them only.
 */
export class CommitContexts<Context> {
  private readonly contexts: AsyncLocalStorage<Context>;
  /** Commits under way by watch and version, in the order in which they are handed in: the first one wins. */
  private readonly pending = new Map<string, Pending<Context>[]>();

  constructor(contexts: AsyncLocalStorage<Context>) {
    this.contexts = contexts;
  }

  /** Returns the store of a new process, with its commits recorded. Those of the process before are forgotten. */
  record<Store extends Pick<WatchStore, 'commit'>>(watches: Store): Store {
    this.pending.clear();
    return {
      ...watches,
      commit: async (change) => {
        const key = toKey(change.watchId, change.expectedVersion);
        const commit = { context: this.contexts.getStore() };
        this.pending.set(key, [...(this.pending.get(key) ?? []), commit]);
        try {
          return await watches.commit(change);
        } finally {
          const others = this.pending.get(key)?.filter((each) => each !== commit) ?? [];
          this.pending.set(key, others);
          if (others.length === 0) this.pending.delete(key);
        }
      },
    };
  }

  /** Returns the context of the commit that has replaced this version of a watch, or undefined for the maintenance. */
  of(watchId: string, version: number | undefined): Context | undefined {
    return version === undefined ? undefined : this.pending.get(toKey(watchId, version))?.[0]?.context;
  }
}

function toKey(watchId: string, version: number): string {
  return `${watchId} ${version}`;
}
