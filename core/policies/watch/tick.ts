import type { NextTick } from '../../records/run-base.ts';
import type { Sight } from '../../records/sight.ts';
import type { WatchCondition } from '../../records/watch.ts';
import type { WatchRun } from '../../records/watch-run.ts';
import type { NewWatchEvent } from '../../records/watch-event.ts';
import type {
  AlertChange,
  BudgetState,
  ConditionState,
  WatchState,
  WatchStatus,
} from '../../records/watch-state.ts';
import { maxErrorLength } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import { afterTick } from '../../sight/after-tick.ts';
import type { PolicySight, SightRules } from '../../sight/after-tick.ts';
import { findLoss } from '../../sight/trouble.ts';
import { ageSeconds } from '../../time.ts';
import { closeAlert, openAlert, remindAlert } from './alerts.ts';
import type { AlertStep } from './alerts.ts';
import { budgetOnDay, isExhausted, isNearlyExhausted, settle } from './budget.ts';
import type { Cost } from './budget.ts';
import type { Verdict } from './condition.ts';
import {
  afterTimeWithoutSight,
  closed,
  closesNow,
  isOpen,
  isPending,
  awaitsOpening,
  isUnjudgeable,
  remindsNow,
  shorten,
  withSight,
  withVerdict,
} from './condition.ts';
import { countByHour, listActive } from './coverage.ts';
import type { HourlyCounts } from './coverage.ts';
import { toEvidenceKey } from './evidence.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import { initialConditionState } from './initial-state.ts';
import { planNextTick } from './next-tick.ts';
import type { ConditionAnswer } from '../../tick/ask-model.ts';
import type { WatchOutcome } from './outcome.ts';
import { createWatchProgress } from './progress.ts';
import { localDay, scheduleAt } from './schedule.ts';
import { watchStatus } from './status.ts';
import { countTick } from './tick-counts.ts';

export type WatchTickInput = {
  outcome: WatchOutcome;
  /** Worst case of a check of all conditions, which the rest of the day's budget must cover. */
  need: Cost;
  /** Factor of the interval in an overload of the service; default 1. */
  stretch?: number;
  /** Maximum wait for a lost stream, unless it refuses the password, in seconds; default none. */
  maxLostWaitSeconds?: number;
  /** Begin of the capture, for which its sight counts; default the time of the decision. */
  at?: Date;
};

/** Returns the id of an alert: a UUIDv5 of watch, condition and the number of the opening. */
export type CreateAlertId = (watchId: string, conditionId: string, opening: number) => string;

/** Decision of a tick. Events are in the order of the log. */
export type WatchDecision = {
  set: Pick<WatchRun, 'state' | 'status' | 'sight'>;
  next: NextTick;
  events: NewWatchEvent[];
  alerts: AlertChange[];
  /** Counts to add, by hour. */
  hours: HourlyCounts[];
};

/** Decides a tick of a watch: phases of its conditions, alerts, status, next tick. Pure. */
export function decideWatchTick(
  watch: WatchRun,
  { outcome, need, stretch = 1, maxLostWaitSeconds = Infinity, at }: WatchTickInput,
  now: Date,
  createAlertId: CreateAlertId,
): WatchDecision {
  const { config, state: stored } = watch;
  const tick = watch.last_tick + 1;
  const schedule = scheduleAt(config.schedule, now);
  const day = localDay(config.schedule?.time_zone ?? 'UTC', now);
  const used = ('used' in outcome && outcome.used) || null;
  const settled = settle(budgetOnDay(config.budget, stored.budget, day.date), tick, used);
  const isNearlyUsedUp = isNearlyExhausted(config.budget, settled);
  const isUsedUp = isExhausted(config.budget, settled, need);
  const losesPrice = outcome.kind === 'not_asked' && outcome.why === 'price';
  const causes = {
    paused: losesPrice ? since(stored.causes.paused, 'model_without_price', now) : stored.causes.paused,
    off_schedule: schedule.active ? null : since(stored.causes.off_schedule, 'schedule', now),
    budget_exhausted: isUsedUp ? since(stored.causes.budget_exhausted, 'budget', now) : null,
  };
  const captured = 'captured' in outcome ? outcome.captured : null;
  const newestKey = captured?.frame_key ?? watch.sight.last_frame?.key ?? null;
  const moment = (retentionDays: number) => ({
    watch,
    frameKey: newestKey && toEvidenceKey(newestKey, retentionDays),
    now,
  });

  const isActive = !causes.paused && schedule.active;
  const conditions = alignConditions(config.conditions, stored.conditions, now).map((state) => {
    const rule = findRule(config.conditions, state);
    const aged = afterTimeWithoutSight(state, config.interval_seconds, now);
    return isActive && rule ? observe(aged, rule, outcome, now) : aged;
  });
  const closings: AlertStep[] = [];
  const openings: AlertStep[] = [];
  const reminders: AlertStep[] = [];
  let { openings: opening } = stored;
  const after = conditions.map((state) => {
    const rule = findRule(config.conditions, state);
    if (!rule) return state;
    if (isOpen(state)) {
      if (!isActive) {
        closings.push(
          closeAlert(
            state,
            rule,
            causes.paused ? 'paused' : 'off_schedule',
            moment(state.alert.retention_days),
          ),
        );
        return closed(state, 'unknown');
      }
      if (closesNow(state, rule)) {
        closings.push(closeAlert(state, rule, 'cleared', moment(state.alert.retention_days)));
        return closed(state, 'clear');
      }
      if (isUsedUp || !remindsNow(state, rule, now)) return state;
      const reminder = remindAlert(state, rule, moment(state.alert.retention_days));
      reminders.push(reminder);
      return reminder.state;
    }
    if (!isActive) return closed(state, 'unknown');
    const verdict = findAnswer(outcome, state.condition_id)?.verdict;
    // One that a cooldown held back opens on a verdict that holds, with its explanation and frame.
    if (!verdict?.triggered || !awaitsOpening(state, rule, now)) return state;
    opening += 1;
    const alertId = createAlertId(watch.run_id, state.condition_id, opening);
    const newest = moment(config.retention_days);
    const frameKey = findShownKey(verdict, captured, config.retention_days) ?? newest.frameKey;
    const step = openAlert(state, rule, alertId, verdict, { ...newest, frameKey });
    openings.push(step);
    return step.state;
  });

  const warns = settled !== null && !settled.warned && isNearlyUsedUp;
  const budget: BudgetState | null = settled && { ...settled, warned: isNearlyUsedUp };
  const isPaused = causes.paused !== null;
  const judged = sawEverything(outcome, config.conditions, after);
  const { sight: seen, spans } = afterTick(
    watch,
    outcome,
    { isActive, ...readSight(outcome, judged) },
    {
      at: at ?? now,
      now,
      stretch,
      intervalSeconds: config.interval_seconds,
      listActive: (from, to) => listActive(config.schedule, from, to),
    },
    sightRules,
  );
  const sight = isPaused ? { ...seen, ...uncounted } : seen;
  const status = watchStatus(causes, sight);
  const next = planNextTick(
    watch,
    outcome,
    {
      status,
      sight,
      isPending: after.some((state) => {
        const rule = findRule(config.conditions, state);
        return rule !== undefined && isPending(state, rule);
      }),
      judged,
      maxLostWaitSeconds,
      scheduleUntil: schedule.until,
      dayEnd: day.end,
      stretch,
    },
    now,
  );
  const steps = [...closings, ...openings, ...reminders];
  const events: NewWatchEvent[] = [
    ...(outcome.kind === 'no_capture' ? [] : [createWatchProgress(tick, outcome, after, next)]),
    ...steps.map(({ event }) => event),
    ...streamEvents(watch.sight, sight, after, now),
    ...changes(stored, causes, warns).map((reason): NewWatchEvent => ({
      type: 'watch_changed',
      data: { status, reason },
    })),
    ...modelEvents(watch.sight, sight, status),
  ];
  const state: WatchState = {
    ...stored,
    conditions: after,
    openings: opening,
    causes,
    budget,
    failed_executions: 0,
  };
  return {
    set: { state, status, sight },
    next,
    events,
    alerts: steps.map(({ change }) => change),
    hours: [
      ...countByHour(spans),
      ...countTick(
        outcome,
        { opened: openings.length, closed: closings.length, reminders: reminders.length },
        now,
      ),
    ],
  };
}

/** Returns one state per condition of the configuration, in its order. */
function alignConditions(
  rules: readonly WatchCondition[],
  states: readonly ConditionState[],
  now: Date,
): ConditionState[] {
  return rules.map(
    ({ condition_id: id }) =>
      states.find(({ condition_id: other }) => other === id) ?? initialConditionState(id, now),
  );
}

function findRule(
  rules: readonly WatchCondition[],
  { condition_id: id }: ConditionState,
): WatchCondition | undefined {
  return rules.find(({ condition_id: other }) => other === id);
}

/** Applies the outcome to one condition. An answer about another text than the current one is dropped. */
function observe(
  state: ConditionState,
  rule: WatchCondition,
  outcome: WatchOutcome,
  now: Date,
): ConditionState {
  if (outcome.kind === 'skipped' && outcome.why === 'no_motion') return withSight(state, now);
  const answer = findAnswer(outcome, state.condition_id);
  if (!answer || answer.condition !== rule.condition) return state;
  if (answer.verdict === null) {
    const isUnsure = answer.unjudgedReason !== undefined;
    const unjudged = Math.min(rules.maxUnjudged, isUnsure ? state.unjudged + 1 : Math.max(1, state.unjudged));
    return { ...state, unjudged, left_out: state.left_out + (answer.leftOut ? 1 : 0) };
  }
  const judged = withVerdict(state, rule, answer.verdict, now);
  return answer.joint ? { ...judged, left_out: 0 } : judged;
}

function findAnswer(outcome: WatchOutcome, conditionId: string): ConditionAnswer | undefined {
  if (outcome.kind !== 'judged') return undefined;
  return outcome.answers.find(({ condition_id: id }) => id === conditionId);
}

/** Returns the key of the evidence if it is a frame of the clip. */
export function findShownKey(
  { shown_at_seconds: atSeconds }: Verdict,
  captured: { frame_key: string } | null,
  retentionDays: number,
): string | undefined {
  if (atSeconds === undefined || captured === null) return undefined;
  return toEvidenceKey(toShownKey(captured.frame_key, atSeconds), retentionDays);
}

/** Returns true if the model judged each condition, as far as it can: only then is the capture the motion reference. */
function sawEverything(
  outcome: WatchOutcome,
  conditions: readonly WatchCondition[],
  states: readonly ConditionState[],
): boolean {
  return conditions.every(({ condition_id: id, condition }) => {
    const answer = findAnswer(outcome, id);
    if (answer?.condition !== condition) return false;
    if (answer.verdict !== null) return true;
    const state = states.find(({ condition_id: other }) => other === id);
    return answer.unjudgedReason !== undefined && state !== undefined && isUnjudgeable(state);
  });
}

/** Fields of a sight whose time is not counted. */
export const uncounted = { counted_until: null, in_gap: null } as const;

/** A watch stands: it waits for its stream and its model, however long they are gone, and reports that. */
const sightRules: SightRules = {
  outlivesStream: true,
  reportsStills: true,
  modelGrace: { failures: 1, seconds: rules.modelLostSeconds },
};

function readSight(outcome: WatchOutcome, judged: boolean): PolicySight {
  switch (outcome.kind) {
    case 'judged': {
      const { answers, busy, failure, used } = outcome;
      const verdicts = answers.flatMap(({ verdict }) => verdict ?? []);
      return {
        seen: verdicts.length > 0 ? 'seen' : busy ? 'service' : 'model',
        // A busy model was not called.
        modelFailure: failure ?? (used.calls > 0 ? null : undefined),
        verdicts: judged ? verdicts : undefined,
      };
    }
    case 'skipped':
      return { seen: outcome.why === 'repeated' ? 'unknown' : 'seen' };
    case 'not_asked':
      return { seen: 'service' };
    default:
      return { seen: 'seen' };
  }
}

function modelEvents(
  { model_trouble: before }: Sight,
  { model_trouble: after }: Sight,
  status: WatchStatus,
): NewWatchEvent[] {
  if ((before?.lost ?? false) === (after?.lost ?? false)) return [];
  if (!after?.lost) return [{ type: 'watch_changed', data: { status, reason: 'model_recovered' } }];
  const error = shorten(after.failure.message).slice(0, maxErrorLength);
  return [{ type: 'watch_changed', data: { status, reason: 'model_failed', error } }];
}

function streamEvents(
  before: Sight,
  after: Sight,
  conditions: readonly ConditionState[],
  now: Date,
): NewWatchEvent[] {
  const [wasLost, lost] = [findLoss(before), findLoss(after)];
  const change = lost ?? wasLost;
  if (change === null || (wasLost === null) === (lost === null)) return [];
  return [{ type: lost ? 'stream_lost' : 'stream_recovered', data: describeLoss(change, conditions, now) }];
}

/** Returns the data of the events of a lost stream. */
export function describeLoss(
  { reason, since }: NonNullable<ReturnType<typeof findLoss>>,
  conditions: readonly ConditionState[],
  now: Date,
) {
  const openAlerts = conditions.flatMap(({ alert }) => (alert ? [alert.alert_id] : []));
  return { reason, lost_seconds: ageSeconds(since, now), open_alerts: openAlerts };
}

type ChangeReason = Extract<NewWatchEvent, { type: 'watch_changed' }>['data']['reason'];

function changes(
  { causes: before }: WatchState,
  after: WatchState['causes'],
  warns: boolean,
): ChangeReason[] {
  const reasons: ChangeReason[] = [];
  if (!before.paused && after.paused) reasons.push('model_without_price');
  if (!before.off_schedule && after.off_schedule) reasons.push('schedule_ended');
  if (before.off_schedule && !after.off_schedule) reasons.push('schedule_began');
  if (warns) reasons.push('budget_warning');
  if (!before.budget_exhausted && after.budget_exhausted) reasons.push('budget_exhausted');
  if (before.budget_exhausted && !after.budget_exhausted) reasons.push('budget_renewed');
  return reasons;
}

function since(
  cause: { since: string; reason: string } | null,
  reason: string,
  now: Date,
): { since: string; reason: string } {
  return cause ?? { since: now.toISOString(), reason };
}
