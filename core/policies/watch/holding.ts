import type { WatchCondition } from '../../records/watch.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import { ageSeconds, later } from '../../time.ts';
import { countHolding, countedChecks, forget, isSnoozed } from './condition.ts';

/** Rules when an alert of a condition may open: with enough verdicts, or after the time for which it must have held. */

/**
 * Applies a verdict to the time for which a condition holds: `checks_to_open` that hold begin it, `checks_to_close` in
 * a row that deny it end it.
 */
export function withHolding(state: ConditionState, rule: WatchCondition, holds: boolean): ConditionState {
  const { holding, ...rest } = state;
  if (state.phase === 'open' || !rule.open_after_seconds) return rest;
  if (!holding) {
    const begins = holds && countHolding(state.history, rule) >= rule.checks_to_open;
    return begins
      ? { ...state, holding: { since: findHoldBegin(state, rule), denied: 0, unseen_seconds: 0 } }
      : state;
  }
  const denied = holds ? 0 : holding.denied + 1;
  return denied < rule.checks_to_close ? { ...state, holding: { ...holding, denied } } : forget(state);
}

/**
 * Returns the time of the first picture that showed it, or of the first verdict that counts if another one denied it
 * since: not before a time that nobody saw.
 */
function findHoldBegin(state: ConditionState, rule: WatchCondition): string {
  const { seen_from: seenFrom, unseen_until: unseenUntil = 0 } = state;
  const [first] = countedChecks(state, rule).flatMap(({ triggered, checked_at: checkedAt }) =>
    triggered ? [checkedAt] : [],
  );
  // Verdicts are stored by the second.
  const isBefore =
    first !== undefined && (seenFrom === undefined || ageSeconds(first, new Date(seenFrom)) >= 1);
  return later(new Date((isBefore ? first : seenFrom) ?? 0), new Date(unseenUntil)).toISOString();
}

/**
 * Applies the time without sight before `shownAt`. What nobody saw neither counts nor ends the time for which a
 * condition holds, up to `maxUnseenHoldSeconds`; then it begins again. An open alert notes it until the next verdict
 * that holds. `inGap`: the ticks before did not see.
 */
export function afterUnseenTime(
  state: ConditionState,
  rule: WatchCondition,
  shownAt: Date,
  { inGap, intervalSeconds }: { inGap: boolean; intervalSeconds: number },
): ConditionState {
  const { holding, unjudged, seen_at: seenAt, alert } = state;
  const seconds = ageSeconds(seenAt, shownAt);
  const maxSeconds = rules.lateIntervals * intervalSeconds + rules.lateAllowanceSeconds;
  const isGap = inGap || seconds > maxSeconds;
  if (isGap && alert)
    return { ...state, alert: { ...alert, unseen_seconds: (alert.unseen_seconds ?? 0) + seconds } };
  if (!rule.open_after_seconds || (!isGap && unjudged === 0)) return state;
  if (!holding) return { ...state, unseen_until: shownAt.toISOString() };
  if (seconds > rules.maxUnseenHoldSeconds) return { ...forget(state), phase: 'unknown' };
  return { ...state, holding: { ...holding, unseen_seconds: holding.unseen_seconds + seconds } };
}

/**
 * Returns how long a condition has yet to hold until its alert opens, in seconds: 0 if verdicts and time are enough,
 * undefined if they cannot be.
 */
export function secondsToOpening(
  { phase, history, holding }: ConditionState,
  rule: WatchCondition,
  shownAt: Date,
): number | undefined {
  if (phase === 'open') return undefined;
  if (!rule.open_after_seconds) return countHolding(history, rule) >= rule.checks_to_open ? 0 : undefined;
  if (!holding) return undefined;
  return Math.max(0, rule.open_after_seconds + holding.unseen_seconds - ageSeconds(holding.since, shownAt));
}

/** Returns true if only a verdict that holds is missing for an opening. `shownAt`: time of the picture. */
export function awaitsOpening(state: ConditionState, rule: WatchCondition, shownAt: Date): boolean {
  return secondsToOpening(state, rule, shownAt) === 0 && isReleased(state, rule, shownAt);
}

/** Returns true if neither cooldown nor snooze holds an opening back. */
export function isReleased(state: ConditionState, rule: WatchCondition, shownAt: Date): boolean {
  const { last_opened_at: last } = state;
  if (isSnoozed(state, shownAt)) return false;
  return last === null || ageSeconds(last, shownAt) >= rule.cooldown_seconds;
}
