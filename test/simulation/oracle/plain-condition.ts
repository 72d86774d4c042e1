import type { PlainCondition, PlainConfig } from './plain.ts';

/** State of a condition in the oracle's own words, times in milliseconds. */

type Check = { at: number; holds: boolean };
export type Condition = {
  phase: 'unknown' | 'clear' | 'open';
  /** Datapoints since the condition began, opened or closed. */
  checks: Check[];
  lastSight: number;
  openedAt: number;
  /** Opening, or newest datapoint that holds. */
  heldAt: number;
  lastOpening: number | null;
  lastReminder: number | null;
  acknowledged: boolean;
  unconfirmed: boolean;
  snoozedUntil: number;
  unjudged: number;
  timesLeftOut: number;
  /** Since when it holds, time in between that nobody saw, and verdicts in a row that denied it. */
  hold: { from: number; blindMs: number; misses: number } | null;
  /** End of the newest time that nobody saw. */
  seenAgainAt: number;
};

export function begun(now: number): Condition {
  return {
    phase: 'unknown',
    checks: [],
    lastSight: now,
    openedAt: 0,
    heldAt: 0,
    lastOpening: null,
    lastReminder: null,
    acknowledged: false,
    unconfirmed: false,
    snoozedUntil: 0,
    unjudged: 0,
    timesLeftOut: 0,
    hold: null,
    seenAgainAt: 0,
  };
}

/** Returns what is left of the verdicts when they no longer count. */
export const emptied = () => ({ checks: [], hold: null, seenAgainAt: 0 });

export function becomeUnknown(condition: Condition): void {
  Object.assign(condition, { phase: 'unknown', ...emptied() });
}

/** Number of newest datapoints in a row that do not hold. */
export function lastInARow(checks: Check[]): number {
  let count = 0;
  while (count < checks.length && !checks[checks.length - 1 - count]!.holds) count += 1;
  return count;
}

export function hasCleared({ checks }: Condition, { toClose }: PlainCondition): boolean {
  return lastInARow(checks) >= toClose;
}

/** M of the last N datapoints hold. */
export function isConfirmed({ checks }: Condition, { toOpen, considered }: PlainCondition): boolean {
  return checks.slice(-considered).filter(({ holds }) => holds).length >= toOpen;
}

/** Time until it has held long enough; Infinity if it does not hold. */
export function msToOpening(condition: Condition, rule: PlainCondition, at: number): number {
  const { openAfter = 0 } = rule;
  if (openAfter === 0) return isConfirmed(condition, rule) ? 0 : Infinity;
  const { hold } = condition;
  return hold === null ? Infinity : Math.max(0, hold.from + hold.blindMs + openAfter * 1000 - at);
}

/**
 * A sight after a time that nobody saw: up to ten minutes of it do not count, and after more it begins to hold again.
 */
export function seeAgain(
  condition: Condition,
  { openAfter = 0 }: PlainCondition,
  at: number,
  { wasBlind, interval }: { wasBlind: boolean } & Pick<PlainConfig, 'interval'>,
): void {
  const blindMs = Math.max(0, at - condition.lastSight);
  const isLate = blindMs > (2 * interval + 30) * 1000;
  if (openAfter === 0 || !(wasBlind || isLate || condition.unjudged > 0)) return;
  if (condition.hold === null) condition.seenAgainAt = at;
  else if (blindMs > 600_000) becomeUnknown(condition);
  else condition.hold.blindMs += blindMs;
}

/** The newest verdict begins the time for which it holds, continues it, or ends it. */
export function countHold(condition: Condition, rule: PlainCondition, holds: boolean): void {
  const { checks, hold } = condition;
  if (condition.phase === 'open' || (rule.openAfter ?? 0) === 0) condition.hold = null;
  else if (hold === null) {
    if (!holds || !isConfirmed(condition, rule)) return;
    const run = checks[checks.findLastIndex((check) => !check.holds) + 1]!;
    const first = checks.slice(-rule.considered).find((check) => check.holds)!;
    const firstSecond = Math.floor(first.at / 1000) * 1000;
    const from = Math.max(run.at - firstSecond >= 1000 ? firstSecond : run.at, condition.seenAgainAt);
    condition.hold = { from, blindMs: 0, misses: 0 };
  } else {
    hold.misses = holds ? 0 : hold.misses + 1;
    if (hold.misses >= rule.toClose) Object.assign(condition, emptied());
  }
}
