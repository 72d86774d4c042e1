import type { Severity, WatchCondition } from '../../records/watch.ts';
import { maxExplanationLength } from '../../records/watch-state.ts';
import type { ConditionState, CountedCheck, OpenAlert } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import type { ConditionVerdict } from '../../tick/ask-model.ts';
import { addSeconds, ageSeconds } from '../../time.ts';

/** State machine of one condition. Each function returns a new state. */

export type OpenCondition = ConditionState & { phase: 'open'; alert: OpenAlert };

export function isOpen(state: ConditionState): state is OpenCondition {
  return state.phase === 'open' && state.alert !== null;
}

/** Returns how long a condition keeps its state without sight, in seconds. */
export function maxSecondsWithoutSight(intervalSeconds: number): number {
  return Math.max(rules.watchSightSeconds, rules.watchSightIntervals * intervalSeconds);
}

/** Applies the time without sight: a clear condition becomes unknown, an open alert unconfirmed. */
export function afterTimeWithoutSight(
  state: ConditionState,
  intervalSeconds: number,
  now: Date,
): ConditionState {
  if (ageSeconds(state.seen_at, now) < maxSecondsWithoutSight(intervalSeconds)) return state;
  if (isOpen(state))
    return state.alert.unconfirmed ? state : { ...state, alert: { ...state.alert, unconfirmed: true } };
  return state.phase === 'unknown' && state.history === '' ? state : { ...forget(state), phase: 'unknown' };
}

/**
 * Adds a verdict, or a frame like a clear one, which has no explanation. The first datapoint of an unknown condition
 * clears it, unless it opens. Clear ones of an open alert count if they are `clearApartSeconds` apart: the frames of a
 * scan close it no sooner than checks do.
 */
export function withVerdict(
  state: ConditionState,
  rule: WatchCondition,
  { triggered, explanation }: Pick<ConditionVerdict, 'triggered'> & { explanation?: string },
  now: Date,
  clearApartSeconds = 0,
): ConditionState {
  const length = Math.max(rule.checks_considered, rule.checks_to_close);
  const seen = withSight(withPicture({ ...state, unjudged: 0 }, triggered, now), now);
  const seconds = Math.floor(now.getTime() / 1000);
  const isNear = seconds - (state.checked_at.at(-1) ?? -Infinity) < clearApartSeconds;
  const isSame = state.phase === 'open' && !triggered && state.history.endsWith('0') && isNear;
  return {
    ...seen,
    phase: state.phase === 'unknown' ? 'clear' : state.phase,
    ...(!isSame && {
      history: (state.history + (triggered ? '1' : '0')).slice(-length),
      checked_at: [...state.checked_at, seconds].slice(-length),
    }),
    alert: seen.alert && {
      ...(triggered ? stillHeld(seen.alert, now) : notHeld(seen.alert, now)),
      ...(explanation !== undefined && { explanation: shorten(explanation) }),
    },
  };
}

/** Leaves what nobody saw since the verdict before out of the time for which an alert was seen. */
function stillHeld({ unseen_seconds: unseen = 0, ...alert }: OpenAlert, now: Date): OpenAlert {
  const seenFrom = addSeconds(new Date(alert.seen_from), unseen).toISOString();
  return { ...alert, seen_from: seenFrom, held_at: now.toISOString(), clear_from: null };
}

/** Notes the first picture without it, earlier by what nobody saw before. */
function notHeld(alert: OpenAlert, now: Date): OpenAlert {
  const clearFrom = alert.clear_from ?? addSeconds(now, -(alert.unseen_seconds ?? 0)).toISOString();
  return { ...alert, clear_from: clearFrom };
}

/** Notes since when pictures show it. */
export function withPicture(state: ConditionState, holds: boolean, shownAt: Date): ConditionState {
  const { seen_from: since = shownAt.toISOString(), ...rest } = state;
  return holds ? { ...rest, seen_from: since } : rest;
}

/**
 * Records sight without a datapoint: a skip of the pre-filter. It compares with a picture in which a condition without
 * a verdict was not judged.
 */
export function withSight(state: ConditionState, now: Date): ConditionState {
  if (state.unjudged > 0) return state;
  const alert = state.alert?.unconfirmed ? { ...state.alert, unconfirmed: false } : state.alert;
  return { ...state, seen_at: now.toISOString(), alert };
}

/** Returns true if the model has answered without a verdict too often in a row. */
export function isUnjudgeable({ unjudged }: ConditionState): boolean {
  return unjudged >= rules.maxUnjudged;
}

/** Inaccuracy of the times of frames, in seconds. */
const inaccuracySeconds = 0.2;

/**
 * Returns the numbers by which an alert of a visit or a stay closes: after two frames of a scan without it, or one
 * picture of a stream that is not scanned. `frameSeconds`: time between the frames of the scan, 0 without one.
 */
export function closingRule(rule: WatchCondition, frameSeconds: number): WatchCondition {
  if (!isByVisit(rule)) return rule;
  const seconds = Math.max(rule.close_after_seconds, 2 * frameSeconds) - inaccuracySeconds;
  return { ...rule, checks_to_close: frameSeconds > 0 ? 2 : 1, close_after_seconds: seconds };
}

/** Returns true if the time without it closes an alert of the condition, however that was seen. */
export function isByVisit({ alert_on: alertOn = 'by_checks' }: WatchCondition): boolean {
  return alertOn !== 'by_checks';
}

/**
 * Returns true if enough consecutive verdicts did not hold since the opening, and the last sight is late enough after
 * the last one that held.
 */
export function closesNow(state: OpenCondition, rule: WatchCondition): boolean {
  const secondsClear = ageSeconds(state.alert.held_at, new Date(state.seen_at));
  return hasCleared(state, rule) && secondsClear >= rule.close_after_seconds;
}

function hasCleared({ history }: ConditionState, rule: WatchCondition): boolean {
  return trailingClear(history) >= rule.checks_to_close;
}

/**
 * Returns true if the model has judged two pictures of an open alert as clear, of which the second shows what is there
 * since: frames without motion are clear then. A frame that the model did not judge counts only beside two verdicts.
 */
export function isSeenClear({ phase, history }: Pick<ConditionState, 'phase' | 'history'>): boolean {
  return phase === 'open' && trailingClear(history) >= 2;
}

/** Returns true if a condition is partly confirmed, in either direction. */
export function isPending(state: ConditionState, rule: WatchCondition): boolean {
  if (state.phase === 'open') {
    const clear = trailingClear(state.history);
    return clear > 0 && clear < rule.checks_to_close;
  }
  const holding = countHolding(state.history, rule);
  return holding > 0 && holding < rule.checks_to_open && !state.holding;
}

/** Returns true if a reminder of the open alert is due. */
export function remindsNow(state: OpenCondition, rule: WatchCondition, now: Date): boolean {
  const { alert } = state;
  if (rule.remind_seconds === null || alert.unconfirmed || alert.acknowledged_at !== null) return false;
  // The alert only waits for its closing.
  if (isSnoozed(state, now) || hasCleared(state, rule)) return false;
  return ageSeconds(alert.reminded_at ?? alert.opened_at, now) >= rule.remind_seconds;
}

/** Opens the condition. Verdicts before the opening do not count towards the closing. */
export function opened(
  state: ConditionState,
  {
    alertId,
    explanation,
    severity,
    retentionDays,
  }: {
    alertId: string;
    explanation: string;
    severity: Severity;
    retentionDays: number;
  },
  now: Date,
): OpenCondition {
  const openedAt = now.toISOString();
  const alert = {
    alert_id: alertId,
    opened_at: openedAt,
    seen_from: state.holding?.since ?? state.seen_from ?? openedAt,
    held_at: openedAt,
    clear_from: null,
    reminded_at: null,
    acknowledged_at: null,
    unconfirmed: false,
    explanation: shorten(explanation),
    severity,
    retention_days: retentionDays,
  };
  return { ...forget(state), phase: 'open', alert, last_opened_at: openedAt };
}

/** Ends an alert. Verdicts before the closing do not count towards the next opening. */
export function closed(state: ConditionState, phase: 'clear' | 'unknown'): ConditionState {
  return { ...forget(state), phase, alert: null };
}

/** Returns the verdicts that are considered for an opening, oldest first. */
export function countedChecks(
  { history, checked_at: times }: ConditionState,
  { checks_considered: considered }: WatchCondition,
): CountedCheck[] {
  return times.slice(-considered).map((seconds, index, counted) => ({
    checked_at: new Date(seconds * 1000).toISOString(),
    triggered: history.at(index - counted.length) === '1',
  }));
}

/** Empties the history, with the time since which pictures show it, and for which it holds. */
export function forget(state: ConditionState): ConditionState {
  const { seen_from: _, holding: __, unseen_until: ___, ...rest } = state;
  return { ...rest, history: '', checked_at: [] };
}

export function isSnoozed({ snoozed_until: until }: ConditionState, now: Date): boolean {
  return until !== null && now < new Date(until);
}

/** Returns how many of the verdicts that are considered for an opening hold. */
export function countHolding(history: string, { checks_considered: considered }: WatchCondition): number {
  return history.slice(-considered).replaceAll('0', '').length;
}

function trailingClear(history: string): number {
  return history.length - 1 - history.lastIndexOf('1');
}

/** Limits an explanation to the length that is stored. */
export function shorten(explanation: string): string {
  if (explanation.length <= maxExplanationLength) return explanation;
  return `${explanation.slice(0, maxExplanationLength - 1)}…`;
}
