import type { WatchChange } from '../../ports/runs.ts';
import { watchConfigSchema, type WatchCondition, type WatchConfig } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import type { EndedBy, NewWatchEvent, WatchChangeReason } from '../../records/watch-event.ts';
import { maxSnoozes } from '../../records/watch-state.ts';
import type { AlertCloseReason, ConditionState, WatchState } from '../../records/watch-state.ts';
import type { Sight } from '../../records/sight.ts';
import { findLoss } from '../../sight/trouble.ts';
import { addSeconds } from '../../time.ts';
import { alertFields, closeAlert, type Closing } from './alerts.ts';
import { closed, forget, isOpen } from './condition.ts';
import { countUntil, toHour } from './counts.ts';
import { initialConditionState } from './initial-state.ts';
import { watchStatus } from './progress.ts';
import { nextGeneration } from '../../tick/advance-run.ts';
import { describeLoss, uncounted, type WatchDecision } from './decide-tick.ts';

/** Decision about a change by a caller. */
type WatchChangeDecision = Omit<WatchDecision, 'set' | 'next'> & {
  set: WatchChange['set'] & Pick<WatchRun, 'status'>;
};

/** Pauses a watch: closes its alerts; its conditions begin in `unknown` after it resumes. */
export function pauseWatch(watch: WatchRun, reason: string, now: Date): WatchChangeDecision {
  const { sight, hours } = countUntil(watch, now);
  const { state } = watch;
  const causes = { ...state.causes, paused: state.causes.paused ?? { since: now.toISOString(), reason } };
  const { conditions, steps } = closeAll(watch, 'paused', now);
  const ended = endedLoss(watch, 'paused', now);
  const set = {
    ...withoutTick(watch),
    sight: { ...sight, ...uncounted, stream_trouble: null, model_trouble: lostModel(sight) },
  };
  return decision(watch, { ...state, conditions, causes }, set, steps, now, 'paused', hours, ended);
}

/** The next capture does not look back into the pause. */
function withoutScan(seen: WatchRun['seen']): WatchRun['seen'] {
  if (seen === null) return null;
  const { scan: _, ...position } = seen.position;
  return { ...seen, position };
}

/**
 * Returns the trouble of a model that is lost: its recovery is reported after the pause. A grace period does not run in
 * it.
 */
function lostModel({ model_trouble: trouble }: Sight): Sight['model_trouble'] {
  return trouble?.lost ? trouble : null;
}

/** Resumes a watch: its next tick is immediate. The grace period of a lost stream restarts. */
export function resumeWatch(watch: WatchRun, now: Date): WatchChangeDecision {
  const { state } = watch;
  const causes = { ...state.causes, paused: null };
  const conditions = state.conditions.map((condition) => sinceNow(restarted(condition, now), watch));
  const sight = { ...watch.sight, counted_until: now.toISOString() };
  const set = { next: null, seen: withoutScan(watch.seen), sight, lease_until: now.toISOString() };
  return decision(watch, { ...state, conditions, causes, failed_executions: 0 }, set, [], now, 'resumed');
}

/** `drawsRegions`: the regions are those of the view that the camera shows now, also if they are as before. */
type WatchEdit = { config: WatchConfig; isOtherStream: boolean; drawsRegions?: boolean };

/**
 * Applies a changed configuration. A condition with another text closes its alert and begins in `unknown`, and with
 * another stream every one does; other numbers of checks, regions or sensitivity keep its state and empty its history.
 * A tick under way counts as far as its question, picture and time are still those of the watch. `watch` has the
 * configuration before.
 */
export function changeWatch(
  watch: WatchRun,
  { config, isOtherStream, drawsRegions = false }: WatchEdit,
  now: Date,
): WatchChangeDecision {
  const { sight, hours } = countUntil(watch, now);
  const { state } = watch;
  const steps: Closing[] = [];
  const moment = { watch, frameKey: noFrame, now };
  const hasOtherRegions = !hasSameField(watch.config, config, 'regions');
  const hasOtherSchedule = !hasSameField(watch.config, config, 'schedule');
  const close = (condition: ConditionState, rule: WatchCondition, reason: AlertCloseReason) => {
    if (isOpen(condition)) steps.push(closeAlert(condition, rule, reason, moment));
  };
  for (const condition of state.conditions) {
    const before = findRule(watch.config, condition.condition_id);
    if (before && !findRule(config, condition.condition_id)) close(condition, before, 'removed');
  }
  const conditions = config.conditions.map((rule) => {
    const condition = state.conditions.find(({ condition_id: id }) => id === rule.condition_id);
    const before = findRule(watch.config, rule.condition_id);
    if (!condition || !before) return sinceNow(initialConditionState(rule.condition_id, now), watch);
    if (isOtherStream || before.condition !== rule.condition) {
      close(condition, before, 'changed');
      return sinceNow(initialConditionState(rule.condition_id, now), watch);
    }
    const isOtherQuestion = hasOtherRegions || before.sensitivity !== rule.sensitivity;
    const { reference_holds: _, ...unknown } = condition;
    const joined = { ...(isOtherQuestion ? unknown : condition), left_out: 0 };
    const asked = isOtherQuestion || hasOtherSchedule ? sinceNow(joined, watch) : joined;
    return isOtherQuestion || !hasSameChecks(before, rule) ? forget(asked) : asked;
  });
  const ended = isOtherStream ? endedLoss(watch, 'changed', now) : [];
  const set = {
    next: null,
    sight,
    // The newest picture shows what is excluded now.
    ...(hasOtherRegions && { sight: { ...sight, last_frame: null } }),
    ...(isOtherStream && { seen: null, sight: { ...sight, ...unseenStream } }),
  };
  const { view, ...health } = state.health;
  const keepsView = !isOtherStream && !hasOtherRegions && !drawsRegions;
  const after = {
    ...state,
    conditions,
    failed_executions: 0,
    health: keepsView ? state.health : health,
  };
  const decided = decision(watch, after, set, steps, now, undefined, hours, ended);
  const removed = watch.config.conditions.filter(({ condition_id: id }) => !findRule(config, id));
  const data = {
    status: decided.set.status,
    reason: 'changed' as const,
    ...(removed.length > 0 && { removed_conditions: removed.map(({ condition_id: id }) => id) }),
  };
  const viewed: NewWatchEvent[] =
    !keepsView && view?.other?.told
      ? [{ type: 'watch_changed', data: { ...data, reason: 'view_restored', ended_by: 'changed' } }]
      : [];
  return { ...decided, events: [...decided.events, { type: 'watch_changed', data }, ...viewed] };
}

/** Closes the alerts of a watch that is deleted. */
export function deleteWatch(watch: WatchRun, now: Date): WatchChangeDecision {
  const { sight, hours } = countUntil(watch, now);
  const { conditions, steps } = closeAll(watch, 'deleted', now);
  const ended = [...endedLoss(watch, 'deleted', now), ...endedTroubles(watch)];
  const set = { ...withoutTick(watch), sight, deleted_at: now.toISOString() };
  return decision(watch, { ...watch.state, conditions }, set, steps, now, 'deleted', hours, ended);
}

/** Snoozes one condition, or all: no alert opens or is repeated for `seconds`; 0 ends the snooze. */
export function snoozeWatch(
  state: WatchState,
  seconds: number,
  conditionId: string | undefined,
  now: Date,
): WatchState {
  const until = seconds === 0 ? null : addSeconds(now, seconds).toISOString();
  const conditions = state.conditions.map((condition) =>
    conditionId === undefined || condition.condition_id === conditionId
      ? { ...condition, snoozed_until: until, snoozes: addSnooze(condition, until, now) }
      : condition,
  );
  return { ...state, conditions };
}

/** Ends a snooze under way, and adds one until `until` unless it is `null`. */
function addSnooze({ snoozes = [] }: ConditionState, until: string | null, now: Date) {
  const from = now.toISOString();
  const ended = snoozes.map((snooze) => (snooze.to > from ? { ...snooze, to: from } : snooze));
  return [...ended, ...(until === null ? [] : [{ from, to: until }])].slice(-maxSnoozes);
}

/**
 * Acknowledges an open alert: it is not repeated any more. Returns undefined if no condition has it, or if it is
 * acknowledged.
 */
export function acknowledgeAlert(
  { config, state }: WatchRun,
  alertId: string,
  by: string,
  now: Date,
): { state: WatchState; event: NewWatchEvent } | undefined {
  const condition = state.conditions.find(({ alert }) => alert?.alert_id === alertId);
  const rule = condition && findRule(config, condition.condition_id);
  if (!rule || !isOpen(condition) || condition.alert.acknowledged_at !== null) return undefined;
  const alert = { ...condition.alert, acknowledged_at: now.toISOString() };
  const conditions = state.conditions.map((other) => (other === condition ? { ...other, alert } : other));
  const data = { ...alertFields(condition, rule), by };
  return { state: { ...state, conditions }, event: { type: 'alert_acknowledged', data } };
}

/**
 * A closing by a caller shows nothing of the condition, and the newest frame is gone with the next capture: it has no
 * picture.
 */
const noFrame = null;

/** Fields of a sight without a capture of its stream. */
const unseenStream = { last_frame: null, skipped_in_a_row: 0, stream_trouble: null } as const;

function withoutTick({ next }: WatchRun): WatchChange['set'] {
  return { next: next && { ...next, done: true } };
}

function closeAll(watch: WatchRun, reason: AlertCloseReason, now: Date) {
  const moment = { watch, frameKey: noFrame, now };
  const steps: Closing[] = [];
  const conditions = watch.state.conditions.map((condition) => {
    const rule = findRule(watch.config, condition.condition_id);
    if (rule && isOpen(condition)) steps.push(closeAlert(condition, rule, reason, moment));
    return sinceNow(closed(condition, 'unknown'), watch);
  });
  return { conditions, steps };
}

/** Returns a condition that begins again. It keeps its cooldown and its snooze. */
function restarted(condition: ConditionState, now: Date): ConditionState {
  const { last_opened_at, snoozed_until, snoozes } = condition;
  const kept = { last_opened_at, snoozed_until, ...(snoozes && { snoozes }) };
  return { ...initialConditionState(condition.condition_id, now), ...kept };
}

/** Leaves out what ticks under way say of a condition. */
function sinceNow(condition: ConditionState, watch: WatchRun): ConditionState {
  return { ...condition, since_generation: nextGeneration(watch, null).generation };
}

/** Returns true if two configurations have the same value of a field. */
export function hasSameField(one: WatchConfig, other: WatchConfig, name: 'regions' | 'schedule'): boolean {
  const [before, after] = [one, other].map((config) => watchConfigSchema.shape[name].parse(config[name]));
  return JSON.stringify(before) === JSON.stringify(after);
}

function hasSameChecks(before: WatchCondition, after: WatchCondition): boolean {
  return (
    before.checks_to_open === after.checks_to_open &&
    before.checks_considered === after.checks_considered &&
    before.checks_to_close === after.checks_to_close &&
    before.alert_on === after.alert_on
  );
}

function findRule(config: WatchConfig, conditionId: string): WatchCondition | undefined {
  return config.conditions.find(({ condition_id: id }) => id === conditionId);
}

/** Each change begins another generation. */
function decision(
  watch: WatchRun,
  state: WatchState,
  set: WatchChange['set'] & Pick<WatchRun, 'sight'>,
  steps: readonly Closing[],
  now: Date,
  reason?: WatchChangeReason,
  hours: WatchChangeDecision['hours'] = [],
  ended: readonly NewWatchEvent[] = [],
): WatchChangeDecision {
  const status = watchStatus(state.causes, set.sight);
  return {
    set: { ...nextGeneration(watch, null), ...set, state, status },
    events: [...steps.map(({ event }) => event), ...ended, ...changedEvent(reason, status)],
    alerts: steps.map(({ change }) => change),
    hours: [...hours, { hour: toHour(now), counts: { alerts_closed: steps.length } }],
  };
}

/** Reports the end of a lost stream that a caller ends: receivers of the loss wait for it. */
export function endedLoss(
  { sight, state }: Pick<WatchRun, 'sight' | 'state'>,
  by: EndedBy,
  now: Date,
): NewWatchEvent[] {
  const loss = findLoss(sight);
  if (loss === null) return [];
  return [{ type: 'stream_recovered', data: { ...describeLoss(loss, state.conditions, now), ended_by: by } }];
}

/** Reports the ends of the troubles of a watch that is deleted. */
function endedTroubles({ status, sight, state }: WatchRun): NewWatchEvent[] {
  const { causes, health } = state;
  const recovered = { reason: 'destination_recovered' as const };
  const ends = [
    ...(causes.budget_exhausted ? [{ reason: 'budget_renewed' as const }] : []),
    ...(causes.paused?.reason === 'model_without_price' ? [{ reason: 'resumed' as const }] : []),
    ...(health.late_since === null ? [] : [{ reason: 'checks_in_time' as const }]),
    ...(health.view?.other?.told ? [{ reason: 'view_restored' as const }] : []),
    ...(sight.model_trouble?.lost ? [{ reason: 'model_recovered' as const }] : []),
    ...health.failing.map(({ destination_id }) => ({ ...recovered, destination_id })),
  ];
  return ends.map((end) => ({ type: 'watch_changed', data: { status, ...end, ended_by: 'deleted' } }));
}

function changedEvent(
  reason: WatchChangeReason | undefined,
  status: ReturnType<typeof watchStatus>,
): NewWatchEvent[] {
  return reason ? [{ type: 'watch_changed', data: { status, reason } }] : [];
}
