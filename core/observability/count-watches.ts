import type { WatchRun } from '../records/watch-run.ts';
import type { WatchStatus } from '../records/watch-state.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';

/** Model calls that failed in a row, after which a watch counts as blind. */
const maxModelFailures = rules.maxModelFailures;

/** Numbers of watches that are neither paused nor deleted. A watch can be in several of the last four. */
export type WatchNumbers = Record<Exclude<WatchStatus, 'paused'>, number> & {
  /** Watches whose check is overdue, or was at the last one. */
  late: number;
  /** Watches whose model calls fail. */
  unjudged: number;
  /** Watches with a destination that accepts nothing. */
  destinations_failing: number;
};

type Counted = Pick<WatchRun, 'status' | 'state' | 'sight' | 'next'>;

/** Counts watches by status and trouble. */
export function countWatches(runs: readonly Counted[], now: Date): WatchNumbers {
  const count = (matches: (run: Counted) => boolean) => runs.filter(matches).length;
  const having = (wanted: WatchStatus) => count(({ status }) => status === wanted);
  return {
    active: having('active'),
    off_schedule: having('off_schedule'),
    budget_exhausted: having('budget_exhausted'),
    stream_lost: having('stream_lost'),
    late: count((run) => run.state.health.late_since !== null || isOverdue(run, now)),
    unjudged: count(({ sight }) => (sight.model_trouble?.failures ?? 0) >= maxModelFailures),
    destinations_failing: count(({ state }) => state.health.failing.length > 0),
  };
}

function isOverdue({ next }: Counted, now: Date): boolean {
  return next !== null && !next.done && ageSeconds(next.wait_until, now) > rules.lateWatchSeconds;
}
