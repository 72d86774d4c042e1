import type { NextTick } from '../../records/run-base.ts';
import type { Sight } from '../../records/sight.ts';
import type { WatchCondition } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
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
import { afterTick, type PolicySight, type SightRules } from '../../sight/after-tick.ts';
import { frameTime } from '../../sight/moment-time.ts';
import type { SightSpan } from '../../sight/count-sight.ts';
import { classifySpans } from '../../sight/spans.ts';
import { findLoss } from '../../sight/trouble.ts';
import { addSeconds, ageSeconds } from '../../time.ts';
import { budgetOnDay, isExhausted, isNearlyExhausted, settle, type Cost } from './budget.ts';
import { isPending, isUnjudgeable, shorten } from './condition.ts';
import { findRule, stepConditions, type CreateAlertId } from './condition-steps.ts';
import { isReleased, secondsToOpening } from './holding.ts';
import { countByHour, type HourlyCounts, countTick } from './counts.ts';
import { findAnswer } from './datapoints.ts';
import { planNextTick } from './next-tick.ts';
import { hasVerdict, lacksMoment, readLook, type WatchOutcome } from './outcome.ts';
import { createWatchProgress, watchStatus } from './progress.ts';
import { listActive, localDay, scheduleAt } from './schedule.ts';
import { shortestVisitOfWatch } from './shortest-visit-of-watch.ts';

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

/** Decision of a tick. Events are in the order of the log. */
export type WatchDecision = {
  set: Pick<WatchRun, 'state' | 'status' | 'sight'>;
  next: NextTick;
  events: NewWatchEvent[];
  alerts: AlertChange[];
  hours: HourlyCounts[];
};

/** Decides a tick of a watch: phases of its conditions, alerts, status, next tick. Pure. */
export function decideWatchTick(
  watch: WatchRun,
  { outcome, need, stretch = 1, maxLostWaitSeconds = Infinity, at: captureAt }: WatchTickInput,
  now: Date,
  createAlertId: CreateAlertId,
): WatchDecision {
  const { config, state: stored } = watch;
  const today = decideDay(watch, outcome, need, now);
  const { schedule, causes, warns, budget } = today;
  const isActive = !causes.paused && schedule.active;
  // A capture that began in a span, and its last scan, see the span though it is over.
  const sees = isActive || (!causes.paused && isSight(outcome));
  const beganAt = captureAt ?? now;
  const shownAt = 'captured' in outcome ? frameTime(outcome.captured, beganAt, now) : beganAt;
  const stepped = stepConditions({ watch, outcome, causes, isActive, at: shownAt, now }, createAlertId);
  const { steps, counts } = stepped;
  const judged = sawEverything(outcome, config.conditions, stepped.conditions);
  const conditions = judged
    ? stepped.conditions.map((state) => withReference(state, config, outcome))
    : stepped.conditions;
  const { sight: seen, spans } = afterTick(
    watch,
    outcome,
    { isActive: sees, ...readSight(outcome, judged) },
    {
      at: captureAt ?? now,
      now,
      shownAt,
      stretch,
      intervalSeconds: config.interval_seconds,
      listActive: (from, to) => listActive(config.schedule, from, to),
    },
    sightRules,
  );
  const unjudged = conditions.flatMap(({ condition_id: id, unjudged: checks }) =>
    checks > 0 || lacksMoment(outcome, id) ? [id] : [],
  );
  const sight = causes.paused ? { ...seen, ...uncounted } : afterSchedule(seen, isActive, causes);
  const status = watchStatus(causes, sight);
  // The scan of the next check sees whether an alert that may close has ended, at its time.
  const isScanned = config.look_back && sight.scan !== undefined;
  const isWaiting = conditions.some((state) => {
    const rule = findRule(config.conditions, state);
    return rule !== undefined && isPending(state, rule) && !(isScanned && state.phase === 'open');
  });
  const plan = {
    status,
    sight,
    isPending: isWaiting,
    secondsToOpening: findSecondsToOpening(conditions, config, shownAt),
    judged,
    maxLostWaitSeconds,
    stretch,
  };
  const times = { scheduleUntil: schedule.until, dayEnd: today.day.end };
  const next = planNextTick(watch, outcome, { ...plan, ...times }, now);
  const events: NewWatchEvent[] = [
    ...(outcome.kind === 'no_capture'
      ? []
      : [createWatchProgress(watch.last_tick + 1, outcome, conditions, next)]),
    ...steps.map(({ event }) => event),
    ...streamEvents(watch.sight, sight, conditions, now),
    ...changes(stored, causes, warns).map((reason): NewWatchEvent => ({
      type: 'watch_changed',
      data: { status, reason },
    })),
    ...modelEvents(watch.sight, sight, status),
  ];
  return {
    set: {
      state: {
        ...stored,
        conditions,
        openings: stored.openings + counts.opened,
        causes,
        budget,
        failed_executions: 0,
      },
      status,
      sight,
    },
    next,
    events,
    alerts: steps.flatMap(({ change }) => change ?? []),
    hours: [
      ...countByHour(
        classifySpans(spans, readLook(outcome, shownAt)),
        unjudged,
        sureSeconds(watch, outcome, sight, spans),
      ),
      ...countTick(outcome, counts, conditions, now),
    ],
  };
}

/**
 * Returns the shortest visit that was sure to be seen in the time that a tick counts. The first capture has nothing to
 * look back at, and says nothing of the seconds before it.
 */
function sureSeconds(
  { config, seen }: WatchRun,
  outcome: WatchOutcome,
  sight: Sight,
  spans: readonly SightSpan[],
): number | undefined {
  const seconds = spans.reduce((sum, { from, to }) => sum + ageSeconds(from, to), 0);
  if (config.look_back && sight.scan === undefined && seconds < config.interval_seconds) return undefined;
  // An interval that an overload stretched: what it leaves out is a gap.
  const captured = 'captured' in outcome ? outcome.captured.seen : seen;
  return shortestVisitOfWatch({ config, sight, seen: captured, next: null });
}

/** Decides what the schedule, the local day and its budget leave of a watch. */
function decideDay({ config, state }: WatchRun, outcome: WatchOutcome, need: Cost, now: Date) {
  const schedule = scheduleAt(config.schedule, now);
  const day = localDay(config.schedule?.time_zone ?? 'UTC', now);
  const { used = null, reserved } = 'used' in outcome ? outcome : {};
  const settled = settle(budgetOnDay(state.budget, day.date), used, reserved);
  const warned = isNearlyExhausted(config.budget, settled);
  const losesPrice = outcome.kind === 'not_asked' && outcome.why === 'price';
  const { paused, off_schedule: offSchedule, budget_exhausted: exhausted } = state.causes;
  const causes: WatchState['causes'] = {
    paused: losesPrice ? since(paused, 'model_without_price', now) : paused,
    off_schedule: schedule.active ? null : since(offSchedule, 'schedule', now),
    budget_exhausted: isExhausted(config.budget, settled, need) ? since(exhausted, 'budget', now) : null,
  };
  const budget: BudgetState = { ...settled, warned };
  return { schedule, day, causes, budget, warns: !settled.warned && warned };
}

/** Returns the time to the next opening that only time is missing for. */
function findSecondsToOpening(
  conditions: readonly ConditionState[],
  config: WatchRun['config'],
  shownAt: Date,
): number | null {
  const waits = conditions.flatMap((state) => {
    const rule = findRule(config.conditions, state);
    if (!rule || isUnjudgeable(state)) return [];
    const seconds = secondsToOpening(state, rule, shownAt) ?? 0;
    return seconds > 0 && isReleased(state, rule, addSeconds(shownAt, seconds)) ? [seconds] : [];
  });
  return waits.length === 0 ? null : Math.min(...waits);
}

/** Returns true if the model judged each condition, as far as it can: only then is the capture the motion reference. */
function sawEverything(
  outcome: WatchOutcome,
  conditions: readonly WatchCondition[],
  states: readonly ConditionState[],
): boolean {
  return conditions.every(({ condition_id: id, condition }) => {
    const answer = outcome.kind === 'judged' && findAnswer(outcome.answers, { condition_id: id, condition });
    if (!answer) return false;
    if (answer.verdict !== null) return true;
    const state = states.find(({ condition_id: other }) => other === id);
    return answer.unjudgedReason !== undefined && state !== undefined && isUnjudgeable(state);
  });
}

/** Notes the verdict about a picture that becomes the reference of motion. */
function withReference(
  before: ConditionState,
  { conditions }: WatchRun['config'],
  outcome: WatchOutcome,
): ConditionState {
  const { reference_holds: _, ...state } = before;
  const rule = findRule(conditions, state);
  const answer = rule && outcome.kind === 'judged' ? findAnswer(outcome.answers, rule) : undefined;
  return answer?.verdict ? { ...state, reference_holds: answer.verdict.triggered } : state;
}

/** Returns true if a tick knows whether its stream was seen. */
function isSight(outcome: WatchOutcome): boolean {
  return outcome.kind !== 'no_capture' && !(outcome.kind === 'skipped' && outcome.why === 'repeated');
}

/**
 * Returns the sight for the time after the tick: an exhausted budget is a gap. Off schedule, no gap is open and no
 * grace period begins.
 */
function afterSchedule(
  sight: Sight,
  isActive: boolean,
  { budget_exhausted: exhausted }: WatchState['causes'],
): Sight {
  const { in_gap: inGap, stream_trouble: stream, model_trouble: model } = sight;
  if (isActive) return exhausted && inGap === null ? { ...sight, in_gap: 'budget' } : sight;
  return {
    ...sight,
    in_gap: null,
    stream_trouble: stream?.lost ? stream : null,
    model_trouble: model?.lost ? model : null,
  };
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
        seen: hasVerdict(outcome) ? 'seen' : busy ? 'service' : 'model',
        // A busy model was not called.
        modelFailure: failure ?? (used.model_calls > 0 ? null : undefined),
        verdicts: judged ? verdicts : undefined,
      };
    }
    case 'skipped':
      return { seen: outcome.why === 'repeated' ? 'unknown' : 'seen' };
    case 'not_asked':
      return { seen: 'budget' };
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
