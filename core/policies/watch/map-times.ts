import type { WatchRun } from '../../records/run.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import { mapRunTimes } from '../../sight/clock-change.ts';
import type { Mover } from '../../time.ts';

/** Replaces the times of a watch, so that cooldowns, reminders and snoozes keep their length. */
export function mapWatchTimes(watch: WatchRun, move: Mover): WatchRun {
  const run = mapRunTimes(watch, move);
  const { past, other } = move;
  const moveSince = <Cause extends { since: string }>(cause: Cause | null) =>
    cause && { ...cause, since: past(cause.since) };
  const { conditions, causes, health } = run.state;
  return {
    ...run,
    state: {
      ...run.state,
      conditions: conditions.map((condition) => mapConditionTimes(condition, move)),
      causes: {
        paused: moveSince(causes.paused),
        off_schedule: moveSince(causes.off_schedule),
        budget_exhausted: moveSince(causes.budget_exhausted),
      },
      health: {
        late_since: past(health.late_since),
        failing: health.failing.map((each) => ({ ...each, since: other(each.since) })),
        ...(health.unsure && { unsure: { ...health.unsure, since: past(health.unsure.since) } }),
        ...(health.view && {
          view: {
            ...health.view,
            other: health.view.other && { ...health.view.other, since: past(health.view.other.since) },
          },
        }),
      },
    },
  };
}

function mapConditionTimes(condition: ConditionState, { past, pastMs, other }: Mover): ConditionState {
  const { alert, holding } = condition;
  return {
    ...condition,
    checked_at: condition.checked_at.map((seconds) => Math.max(0, Math.round(pastMs(seconds * 1000) / 1000))),
    seen_at: past(condition.seen_at),
    ...(condition.seen_from !== undefined && { seen_from: past(condition.seen_from) }),
    ...(holding && { holding: { ...holding, since: past(holding.since) } }),
    ...(condition.unseen_until !== undefined && { unseen_until: past(condition.unseen_until) }),
    last_opened_at: past(condition.last_opened_at),
    snoozed_until: other(condition.snoozed_until),
    ...(condition.snoozes && {
      snoozes: condition.snoozes.map(({ from, to }) => ({ from: past(from), to: other(to) })),
    }),
    alert: alert && {
      ...alert,
      opened_at: past(alert.opened_at),
      seen_from: past(alert.seen_from),
      held_at: past(alert.held_at),
      clear_from: past(alert.clear_from),
      reminded_at: past(alert.reminded_at),
      acknowledged_at: past(alert.acknowledged_at),
    },
  };
}
