import type { WatchRun } from '../../records/watch-run.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import { addSeconds, later } from '../../time.ts';

/**
 * Returns the watch on the clock of its tick, and the time of the tick. The workflow never wakes a watch before its time: if the clock reads less, it was
 * set back while the watch waited. All times of the state then move back with it, so that cooldowns, reminders, snoozes and grace periods keep their length.
 */
export function atWatchTick(stored: WatchRun, now: Date): { stored: WatchRun; now: Date } {
  const planned = stored.next?.wait_until;
  if (planned === undefined) return { stored, now };
  const seconds = (Date.parse(planned) - now.getTime()) / 1000;
  if (seconds <= rules.clockDifferenceSeconds) return { stored, now: later(now, new Date(planned)) };
  return { stored: movedBack(stored, seconds), now };
}

function movedBack(run: WatchRun, seconds: number): WatchRun {
  const { state, seen, next } = run;
  const move = (time: string) => addSeconds(new Date(time), -seconds).toISOString();
  const moveAny = (time: string | null) => (time === null ? null : move(time));
  const moveSince = <Cause extends { since: string }>(cause: Cause | null) =>
    cause && { ...cause, since: move(cause.since) };
  const { paused, off_schedule, budget_exhausted, stream_lost } = state.causes;
  const { late_since, failing } = state.health;
  const moved = {
    ...state,
    conditions: state.conditions.map((condition) => movedCondition(condition, seconds, move, moveAny)),
    causes: {
      paused: moveSince(paused),
      off_schedule: moveSince(off_schedule),
      budget_exhausted: moveSince(budget_exhausted),
      stream_lost: moveSince(stream_lost),
    },
    trouble: moveSince(state.trouble),
    counted_until: moveAny(state.counted_until),
    model_failing_since: moveAny(state.model_failing_since),
    health: {
      late_since: moveAny(late_since),
      failing: failing.map((each) => ({ ...each, since: move(each.since) })),
    },
  };
  return {
    ...run,
    state: moved,
    seen: seen && {
      ...seen,
      since: move(seen.since),
      identical_since: moveAny(seen.identical_since),
      seen_at: move(seen.seen_at),
    },
    next: next && { ...next, wait_until: move(next.wait_until) },
  };
}

function movedCondition(
  condition: ConditionState,
  seconds: number,
  move: (time: string) => string,
  moveAny: (time: string | null) => string | null,
): ConditionState {
  const { alert } = condition;
  return {
    ...condition,
    checked_at: condition.checked_at.map((at) => Math.max(0, Math.round(at - seconds))),
    seen_at: move(condition.seen_at),
    last_opened_at: moveAny(condition.last_opened_at),
    snoozed_until: moveAny(condition.snoozed_until),
    alert: alert && {
      ...alert,
      opened_at: move(alert.opened_at),
      reminded_at: moveAny(alert.reminded_at),
      acknowledged_at: moveAny(alert.acknowledged_at),
    },
  };
}
