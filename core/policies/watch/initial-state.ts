import { initialProgress } from '../../records/run-base.ts';
import type { WatchRun } from '../../records/run.ts';
import type { ConditionState, WatchState } from '../../records/watch-state.ts';
import type { Watch } from '../../records/watch.ts';
import { rules } from '../../rules.ts';
import { addSeconds } from '../../time.ts';

/** Returns the run of a watch that begins at `now`: its first tick captures immediately. */
export function createWatchRun(watch: Watch, now: Date): WatchRun {
  const ids = watch.config.conditions.map(({ condition_id: id }) => id);
  return {
    ...watch,
    ...initialProgress,
    sight: { ...initialProgress.sight, counted_until: now.toISOString() },
    lease_until: addSeconds(now, rules.startLeaseSeconds).toISOString(),
    status: 'active',
    deleted_at: null,
    state: initialWatchState(ids, now),
  };
}

export function initialWatchState(conditionIds: readonly string[], now: Date): WatchState {
  return {
    conditions: conditionIds.map((id) => initialConditionState(id, now)),
    openings: 0,
    causes: { paused: null, off_schedule: null, budget_exhausted: null },
    budget: null,
    health: { late_since: null, failing: [] },
    failed_executions: 0,
  };
}

/** Returns the state of a condition without datapoints. */
export function initialConditionState(conditionId: string, now: Date): ConditionState {
  return {
    condition_id: conditionId,
    phase: 'unknown',
    history: '',
    checked_at: [],
    seen_at: now.toISOString(),
    alert: null,
    last_opened_at: null,
    snoozed_until: null,
    unjudged: 0,
    left_out: 0,
  };
}
