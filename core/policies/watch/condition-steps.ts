import type { WatchCondition } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import type { NewWatchEvent } from '../../records/watch-event.ts';
import type { AlertChange, ConditionState, WatchState } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import type { ConditionAnswer } from '../../tick/ask-model.ts';
import { secondsBehind } from '../../sight/moment-time.ts';
import { hasFailed } from '../../sight/trouble.ts';
import { addSeconds, ageSeconds, later } from '../../time.ts';
import { closeAlert, endAlert, openAlert, remindAlert } from './alerts.ts';
import type { Closing, Opening, OpeningContext, Reminder } from './alerts.ts';
import type { OpenCondition } from './condition.ts';
import {
  afterTimeWithoutSight,
  closed,
  closingRule,
  closesNow,
  countedChecks,
  isByVisit,
  isOpen,
  remindsNow,
  withPicture,
  withSight,
  withVerdict,
} from './condition.ts';
import { findAnswer, listDatapoints, type Datapoint } from './datapoints.ts';
import { toEvidenceKey } from './evidence.ts';
import { afterUnseenTime, awaitsOpening, withHolding } from './holding.ts';
import { initialConditionState } from './initial-state.ts';
import type { WatchOutcome } from './outcome.ts';
import { shortestVisitOfCondition } from './shortest-visit-of-watch.ts';
import type { AlertCounts } from './counts.ts';

/** Returns the id of an alert: a UUIDv5 of watch, condition and the number of the opening. */
export type CreateAlertId = (watchId: string, conditionId: string, opening: number) => string;

/** Tick as its conditions see it. `at` is the time of the newest frame, `now` that of the decision. */
export type ConditionTick = {
  watch: WatchRun;
  outcome: WatchOutcome;
  causes: WatchState['causes'];
  isActive: boolean;
  at: Date;
  now: Date;
};

/**
 * Condition while its datapoints are applied, with the changes of its alerts. `visits`: alerts that opened in this
 * tick, with their ends.
 */
type Progress = {
  state: ConditionState;
  closing?: Closing;
  visits: { opening: Opening; ended?: Pick<Closing, 'event'> }[];
  reminder?: Reminder;
};

/** Tick as one of its conditions sees it: when its alert closes, and the id of its next one. */
type Step = ConditionTick & {
  closing: ReturnType<typeof closingRule>;
  createId: (conditionId: string) => string;
};

/** Maximum openings of one condition in a tick, whose changes are one transaction. */
const maxVisits = 2;

/** Event with the change of the alert that it reports, unless that of its opening reports it too. */
type ConditionStep = { event: NewWatchEvent; change?: AlertChange };

/** Returns the conditions after a tick, with the changes of their alerts in the order of the log. */
export function stepConditions(
  tick: ConditionTick,
  createAlertId: CreateAlertId,
): { conditions: ConditionState[]; steps: ConditionStep[]; counts: AlertCounts } {
  const { watch, now } = tick;
  const { config, state: stored } = watch;
  let opened = 0;
  const createId = (conditionId: string) => {
    opened += 1;
    return createAlertId(watch.run_id, conditionId, stored.openings + opened);
  };
  const stepped = alignConditions(config.conditions, stored.conditions, now).map((before): Progress => {
    const rule = findRule(config.conditions, before);
    const aged = afterTimeWithoutSight(before, config.interval_seconds, now);
    return rule ? stepCondition(aged, rule, tick, createId) : { state: aged, visits: [] };
  });
  const closings = stepped.flatMap(({ closing }): ConditionStep[] => (closing ? [closing] : []));
  const visits = stepped.flatMap((progress) => progress.visits);
  const reminders = stepped.flatMap(({ reminder }): ConditionStep[] => (reminder ? [reminder] : []));
  const told = visits.flatMap(({ opening, ended }): ConditionStep[] =>
    ended ? [opening, ended] : [opening],
  );
  return {
    conditions: stepped.map(({ state }) => state),
    steps: [...closings, ...told, ...reminders],
    counts: {
      opened,
      closed: closings.length + told.length - visits.length,
      reminders: reminders.length,
    },
  };
}

/** Returns the time between frames that a tick has scanned, in seconds; 0 without a scan. */
function readFrameSeconds({ watch, outcome }: ConditionTick): number {
  const scan = 'captured' in outcome ? outcome.captured.scan : undefined;
  return watch.config.look_back ? ((scan ?? watch.sight.scan)?.distance_seconds ?? 0) : 0;
}

function stepCondition(
  before: ConditionState,
  rule: WatchCondition,
  tick: ConditionTick,
  createId: (conditionId: string) => string,
): Progress {
  const { causes, isActive, outcome, at: newestAt, now } = tick;
  if (causes.paused) return end({ state: before, visits: [] }, rule, tick);
  const points = listDatapoints(outcome, rule, before, newestAt, tick.watch.next?.rescans);
  const step = { ...tick, closing: closingRule(rule, readFrameSeconds(tick)), createId };
  let progress: Progress = { state: afterUnseen(before, rule, points, tick), visits: [] };
  // A person who is back by the check has not left. One who came back and left again has visited twice.
  const isClear = points.some(({ isNewest, verdict }) => isNewest && verdict?.triggered === false);
  const lastHeld = points.findLastIndex(({ verdict }) => verdict?.triggered);
  for (const [index, point] of points.entries()) {
    const mayClose = isByVisit(rule) || isClear || index > lastHeld;
    progress = applyDatapoint(progress, rule, { ...point, mayClose }, step);
  }
  progress = { ...progress, state: withoutVerdict(progress.state, rule, tick) };
  if (!isActive) return end(progress, rule, tick);
  const { state } = progress;
  if (!isOpen(state)) return progress;
  const { closing } = step;
  if (closesNow(state, closing)) return close(progress, state, rule, readMoment(state, tick));
  if (progress.visits.length > 0 || causes.budget_exhausted || !remindsNow(state, closing, now))
    return progress;
  const reminder = remindAlert(state, rule, readMoment(state, tick));
  return { ...progress, state: reminder.state, reminder };
}

/** Applies the time that nobody saw before the first sight of a tick. */
function afterUnseen(
  before: ConditionState,
  rule: WatchCondition,
  [first]: readonly Datapoint[],
  { watch, outcome, at }: ConditionTick,
): ConditionState {
  const isUnmoved = outcome.kind === 'skipped' && outcome.why === 'no_motion' && before.unjudged === 0;
  const seenAt = first?.at ?? (isUnmoved ? at : undefined);
  const { interval_seconds: intervalSeconds } = watch.config;
  const inGap = watch.sight.in_gap !== null;
  return seenAt ? afterUnseenTime(before, rule, seenAt, { inGap, intervalSeconds }) : before;
}

/** Applies a datapoint at its own time. At most one alert of a condition opens in a tick. */
function applyDatapoint(
  progress: Progress,
  rule: WatchCondition,
  point: Datapoint & { mayClose: boolean },
  step: Step,
): Progress {
  const { watch, closing } = step;
  const { at: shownAt, verdict, holds = false } = point;
  const byVisit = isByVisit(rule);
  // A frame that was not judged opens nothing, but ends what was not enough for an opening.
  if (byVisit && !verdict && !isOpen(progress.state) && (holds || !progress.state.history.endsWith('1')))
    return { ...progress, state: withPicture(progress.state, holds, shownAt) };
  const apartSeconds = point.isNewest || byVisit ? 0 : watch.config.confirm_seconds;
  const seen = withVerdict(progress.state, closing, verdict ?? { triggered: holds }, shownAt, apartSeconds);
  const state = verdict ? withHolding(seen, rule, verdict.triggered) : seen;
  const next = { ...progress, state };
  const toMoment = (days: number) => ({ watch, frameKey: toEvidenceKey(point.frameKey, days), now: shownAt });
  if (isOpen(state)) {
    const isOver = closesNow(state, closing) || (verdict?.triggered === false && isBack(state, point, step));
    return isOver && point.mayClose ? close(next, state, rule, toMoment(state.alert.retention_days)) : next;
  }
  if (!verdict?.triggered || !awaitsOpening(state, rule, shownAt)) return next;
  if (progress.visits.length >= (byVisit ? maxVisits : 1)) return next;
  const id = step.createId(state.condition_id);
  const moment = toMoment(watch.config.retention_days);
  const opened = openAlert(state, rule, id, verdict, moment, readContext(state, rule, step));
  return { ...next, state: opened.state, visits: [...next.visits, { opening: opened }] };
}

/** Ends the condition of a watch that is paused or off schedule, with its alert. */
function end(progress: Progress, rule: WatchCondition, tick: ConditionTick): Progress {
  const { state } = progress;
  const reason = tick.causes.paused ? 'paused' : 'off_schedule';
  const ended = isOpen(state) ? close(progress, state, rule, readMoment(state, tick), reason) : progress;
  return { ...ended, state: closed(ended.state, 'unknown') };
}

/** Closes the alert; one that opened in this tick ends with it. */
function close(
  progress: Progress,
  state: OpenCondition,
  rule: WatchCondition,
  moment: Parameters<typeof closeAlert>[3],
  reason: 'cleared' | 'paused' | 'off_schedule' = 'cleared',
): Progress {
  const closing = closeAlert(state, rule, reason, moment);
  const after = { ...progress, state: closed(state, 'clear') };
  const last = progress.visits.at(-1);
  if (!last || last.ended) return { ...after, closing };
  const ended = { opening: endAlert(last.opening, closing), ended: { event: closing.event } };
  return { ...after, visits: [...progress.visits.slice(0, -1), ended] };
}

/**
 * Returns true if the newest frame is the first of a stream that was lost, and the alert opened just before the loss or
 * in it: nobody saw whether it went on.
 */
function isBack({ alert }: OpenCondition, { isNewest }: Datapoint, { watch }: ConditionTick): boolean {
  const trouble = watch.sight.stream_trouble;
  if (!isNewest || !trouble?.lost) return false;
  return new Date(alert.opened_at) >= addSeconds(new Date(trouble.since), -rules.streamGraceSeconds);
}

/**
 * Returns for how long the stream gave no picture before the first verdict of an opening, and the shortest visit that
 * is sure to be seen.
 */
function readContext(state: ConditionState, rule: WatchCondition, tick: ConditionTick): OpeningContext {
  const { watch, outcome, at: newestAt, now } = tick;
  const { stream_trouble: trouble, regained } = watch.sight;
  const isFirst = (time: string) =>
    regained && time <= regained.at && ageSeconds(time, new Date(regained.at)) <= regained.lost_seconds;
  const begins = countedChecks(state, rule).some((check) => check.triggered && isFirst(check.checked_at));
  const behind = 'captured' in outcome ? secondsBehind(new Date(outcome.captured.captured_at), newestAt) : 0;
  return {
    ...(behind > 0 && { behind_seconds: behind }),
    ...(hasFailed(trouble)
      ? { lost_seconds: ageSeconds(trouble.since, now) }
      : regained && begins && { lost_seconds: regained.lost_seconds }),
    shortest_visit_seconds: shortestVisitOfCondition(watch, rule),
  };
}

/** Applies what a tick shows without a verdict: sight, or an answer of the model that has none. */
function withoutVerdict(
  state: ConditionState,
  rule: WatchCondition,
  { outcome, at }: ConditionTick,
): ConditionState {
  if (outcome.kind === 'skipped' && outcome.why === 'no_motion')
    return withSight(state, later(at, new Date(state.seen_at)));
  const answer = outcome.kind === 'judged' ? findAnswer(outcome.answers, rule) : undefined;
  if (!answer) return state;
  return answer.verdict ? countJoint(state, answer) : countUnjudged(state, answer);
}

function countJoint(state: ConditionState, { joint }: ConditionAnswer): ConditionState {
  return joint ? { ...state, left_out: 0 } : state;
}

function countUnjudged(state: ConditionState, { unjudgedReason, leftOut }: ConditionAnswer): ConditionState {
  const isUnsure = unjudgedReason !== undefined;
  const unjudged = Math.min(rules.maxUnjudged, isUnsure ? state.unjudged + 1 : Math.max(1, state.unjudged));
  return { ...state, unjudged, left_out: state.left_out + (leftOut ? 1 : 0) };
}

/** Returns the moment of a change of an alert that no verdict causes, with the key of the newest frame. */
function readMoment(state: ConditionState, { watch, outcome, now }: ConditionTick) {
  const captured = 'captured' in outcome ? outcome.captured : null;
  const newestKey = captured?.frame_key ?? watch.sight.last_frame?.key ?? null;
  const days = state.alert?.retention_days ?? watch.config.retention_days;
  return { watch, frameKey: newestKey && toEvidenceKey(newestKey, days), now };
}

/** Returns one state per condition of the configuration, in its order. */
function alignConditions(
  conditions: readonly WatchCondition[],
  states: readonly ConditionState[],
  now: Date,
): ConditionState[] {
  return conditions.map(
    ({ condition_id: id }) =>
      states.find(({ condition_id: other }) => other === id) ?? initialConditionState(id, now),
  );
}

export function findRule(
  conditions: readonly WatchCondition[],
  { condition_id: id }: ConditionState,
): WatchCondition | undefined {
  return conditions.find(({ condition_id: other }) => other === id);
}
