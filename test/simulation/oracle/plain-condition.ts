import type { PlainCondition } from './plain.ts';

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
  };
}

export function becomeUnknown(condition: Condition): void {
  Object.assign(condition, { phase: 'unknown', checks: [] });
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
