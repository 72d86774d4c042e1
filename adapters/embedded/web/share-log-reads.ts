import type { TailDeps } from '../../../core/event/tail-events.ts';
import type { Run, RunEvent } from '../../../core/records/run.ts';

type LogReads = TailDeps['runs'];
type Page = { after: number; limit: number; events: Promise<RunEvent[]> };

export type SharedLogReads = LogReads & {
  /** Forgets what was read of a log. Call it after a commit, before its readers wake. */
  forget(jobId: string): void;
};

/**
 * Shares reads of the same log that begin before the event loop has another event: a commit wakes all readers of its
 * log, and each of them reads the same job and the same page.
 */
export function shareLogReads(runs: () => LogReads): SharedLogReads {
  const reads = new Map<string, Promise<Run | undefined>>();
  const pages = new Map<string, Page>();

  function forgetAllAfterThisTurn(): void {
    if (reads.size + pages.size > 0) return;
    setImmediate(() => {
      reads.clear();
      pages.clear();
    });
  }

  return {
    get: (jobId, now) => {
      const shared = reads.get(jobId);
      if (shared !== undefined) return shared;
      forgetAllAfterThisTurn();
      const run = runs().get(jobId, now);
      reads.set(jobId, run);
      return run;
    },
    events: async (jobId, after, limit, now) => {
      const shared = pages.get(jobId);
      if (shared?.after === after && shared.limit === limit) return shared.events;
      forgetAllAfterThisTurn();
      const events = runs().events(jobId, after, limit, now);
      pages.set(jobId, { after, limit, events });
      return events;
    },
    forget: (jobId) => {
      reads.delete(jobId);
      pages.delete(jobId);
    },
  };
}
