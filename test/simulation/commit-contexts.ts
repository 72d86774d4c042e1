import type { AsyncLocalStorage } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import type { RunChange, RunStore } from '../../core/ports/runs.ts';
import type { Run } from '../../core/records/run.ts';
import { applyRunChange } from '../../core/event/stored-run.ts';

type Pending<Context> = { change: RunChange; context: Context | undefined };

/**
 * Knows who commits a change of a run. Commits of one turn of the event loop share a transaction (`groupCommits`), so
 * the context in which the transaction ends is that of the first of them only.
 */
export class CommitContexts<Context> {
  private readonly contexts: AsyncLocalStorage<Context>;
  /** Commits under way by run and version. */
  private readonly pending = new Map<string, Pending<Context>[]>();

  constructor(contexts: AsyncLocalStorage<Context>) {
    this.contexts = contexts;
  }

  /** Returns the store of a new process, with its commits recorded. Those of the process before are forgotten. */
  record(runs: RunStore): RunStore {
    this.pending.clear();
    return {
      ...runs,
      commit: async (change) => {
        const key = toKey(change.runId, change.expectedVersion);
        const commit = { change, context: this.contexts.getStore() };
        this.pending.set(key, [...(this.pending.get(key) ?? []), commit]);
        try {
          return await runs.commit(change);
        } finally {
          const others = this.pending.get(key)?.filter((each) => each !== commit) ?? [];
          this.pending.set(key, others);
          if (others.length === 0) this.pending.delete(key);
        }
      },
    };
  }

  /**
   * Returns the context of the commit between two states of a run, or undefined for the maintenance. Of several commits
   * on the same version the first one that is written wins; a full disk can take it back.
   */
  of(runId: string, before: Run, after: Run): Context | undefined {
    const commits = this.pending.get(toKey(runId, before.version)) ?? [];
    const written = toComparable(after);
    return commits.find(({ change }) =>
      isDeepStrictEqual(toComparable(applyRunChange(before, change)), written),
    )?.context;
  }
}

function toComparable(run: Run): unknown {
  return JSON.parse(JSON.stringify({ ...run, published: 0 }));
}

function toKey(runId: string, version: number): string {
  return `${runId} ${version}`;
}
