import type { WatchCondition } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import type { NewWatchEvent } from '../../records/watch-event.ts';
import type { AlertChange, AlertCloseReason, ConditionState } from '../../records/watch-state.ts';
import { addSeconds, ageSeconds } from '../../time.ts';
import { countedChecks, opened, type OpenCondition } from './condition.ts';
import type { ConditionVerdict } from '../../tick/ask-model.ts';

type Step<Type extends NewWatchEvent['type'], Kind extends AlertChange['kind']> = {
  event: Extract<NewWatchEvent, { type: Type }>;
  change: Extract<AlertChange, { kind: Kind }>;
};
export type Opening = Step<'alert_opened', 'open'>;
export type Closing = Step<'alert_closed', 'close'>;
export type Reminder = Step<'alert_reminder', 'remind'>;

type Moment = { watch: WatchRun; frameKey: string | null; now: Date };

/** Facts of a stream at an opening. The event reports all but `behind_seconds`. */
export type OpeningContext = {
  lost_seconds?: number;
  behind_seconds?: number;
  shortest_visit_seconds: number;
};

const daySeconds = 86_400;

export function openAlert(
  state: ConditionState,
  rule: WatchCondition,
  alertId: string,
  { explanation, boxes = [], prompt_version }: Omit<ConditionVerdict, 'triggered'>,
  { watch, frameKey, now }: Moment,
  context: OpeningContext,
): Opening & { state: OpenCondition } {
  const { retention_days: retentionDays } = watch.config;
  const { severity } = rule;
  const after = opened(state, { alertId, explanation, severity, retentionDays }, now);
  const shared = {
    ...alertFields(after, rule),
    explanation: after.alert.explanation,
    checks: countedChecks(state, rule),
    frame_key: frameKey,
    // An opening without a frame has nothing that boxes could be drawn on.
    ...(boxes.length === 0 || frameKey === null ? {} : { boxes }),
    ...(prompt_version === undefined ? {} : { prompt_version }),
    ...(context.lost_seconds === undefined ? {} : { lost_seconds: context.lost_seconds }),
  };
  const { config, run_id: watch_id, caller } = watch;
  const alert = {
    ...shared,
    watch_id,
    watch_name: config.name,
    caller,
    labels: config.labels,
    seen_from: after.alert.seen_from,
    ...(context.behind_seconds === undefined ? {} : { behind_seconds: context.behind_seconds }),
    reminders: 0,
    acknowledged: null,
    closed: null,
    review: null,
    expires_at: null,
  };
  const data = { ...shared, shortest_visit_seconds: context.shortest_visit_seconds };
  return { state: after, event: { type: 'alert_opened', data }, change: { kind: 'open', alert } };
}

/** Closes the alert of a condition; the caller sets the state after it. */
export function closeAlert(
  state: OpenCondition,
  rule: WatchCondition,
  reason: AlertCloseReason,
  { watch, frameKey, now }: Moment,
): Closing {
  const { alert } = state;
  const openSeconds = ageSeconds(alert.opened_at, now);
  const shared = {
    reason,
    explanation: alert.explanation,
    open_seconds: openSeconds,
    seen_seconds: seenSeconds(state, watch),
    frame_key: frameKey,
  };
  const closedAt = now.toISOString();
  return {
    event: { type: 'alert_closed', data: { ...alertFields(state, rule), closed_at: closedAt, ...shared } },
    change: {
      kind: 'close',
      alertId: alert.alert_id,
      closed: { at: closedAt, ...shared },
      expiresAt: addSeconds(now, alert.retention_days * daySeconds).toISOString(),
    },
  };
}

/**
 * Returns how long it was there: from half a frame before the first picture that showed it until the middle of the last
 * one and the first without it.
 */
function seenSeconds({ alert }: OpenCondition, { sight }: WatchRun): number {
  const { seen_from: from, held_at: heldAt, clear_from: clearFrom } = alert;
  const beforeSeconds = (sight.scan?.distance_seconds ?? 0) / 2;
  const afterSeconds = clearFrom === null ? 0 : ageSeconds(heldAt, new Date(clearFrom)) / 2;
  return beforeSeconds + ageSeconds(from, new Date(heldAt)) + afterSeconds;
}

/**
 * Joins an opening with the closing of its alert in the same tick: the store has one change of the alert, because its
 * transaction allows no second one.
 */
export function endAlert({ event, change }: Opening, { change: closing }: Closing): Opening {
  return {
    event: {
      ...event,
      data: {
        ...event.data,
        ended: true,
        open_seconds: closing.closed.open_seconds,
        seen_seconds: closing.closed.seen_seconds,
      },
    },
    change: { ...change, alert: { ...change.alert, closed: closing.closed, expires_at: closing.expiresAt } },
  };
}

export function remindAlert(
  state: OpenCondition,
  rule: WatchCondition,
  { frameKey, now }: Omit<Moment, 'watch'>,
): Reminder & { state: OpenCondition } {
  const { alert } = state;
  const data = {
    ...alertFields(state, rule),
    open_seconds: ageSeconds(alert.opened_at, now),
    explanation: alert.explanation,
    frame_key: frameKey,
  };
  return {
    state: { ...state, alert: { ...alert, reminded_at: now.toISOString() } },
    event: { type: 'alert_reminder', data },
    change: { kind: 'remind', alertId: alert.alert_id },
  };
}

export function alertFields({ alert }: OpenCondition, rule: WatchCondition) {
  const { condition_id, condition } = rule;
  return {
    alert_id: alert.alert_id,
    condition_id,
    condition,
    severity: alert.severity,
    opened_at: alert.opened_at,
  };
}
