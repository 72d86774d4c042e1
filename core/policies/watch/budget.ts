import type { Budget } from '../../records/watch.ts';
import type { BudgetState } from '../../records/watch-state.ts';

/** Model calls, and their price in millionths of a US dollar. */
export type Cost = { calls: number; micro_usd: number };

/** Result of a reservation before the model calls of a tick. */
export type Reservation = { kind: 'reserved'; budget: BudgetState | null } | { kind: 'exhausted' };

const warningShare = 0.8;

/** Returns the use on a day: a new day begins with nothing used. A day before the stored one is no new day: the clock was set back, or the time zone changed. */
export function budgetOnDay(
  budget: Budget | null,
  state: BudgetState | null,
  date: string,
): BudgetState | null {
  if (budget === null) return null;
  if (state && state.day >= date) return { ...state, day: date };
  return { day: date, calls: 0, micro_usd: 0, reserved: null, warned: false };
}

/**
 * Reserves the worst case of a tick's calls; it is committed before the first call. A reservation that is left belongs to an attempt that
 * crashed: its calls may have been made, so it counts as used.
 */
export function reserve(
  budget: Budget | null,
  state: BudgetState | null,
  tick: number,
  need: Cost,
): Reservation {
  if (budget === null || state === null) return { kind: 'reserved', budget: null };
  const used = forfeited(state);
  if (exceeds(budget, used, need)) return { kind: 'exhausted' };
  return { kind: 'reserved', budget: { ...used, reserved: { tick, ...need } } };
}

/**
 * Replaces the reservation of a tick by the cost of its calls; `null` if the tick made none. A reservation is then of an attempt that
 * crashed, and counts as used.
 */
export function settle(state: BudgetState | null, tick: number, used: Cost | null): BudgetState | null {
  if (state === null || state.reserved === null) return state;
  if (used === null || state.reserved.tick !== tick) return forfeited(state);
  const calls = state.calls + used.calls;
  return { ...state, calls, micro_usd: state.micro_usd + used.micro_usd, reserved: null };
}

/** Returns true if `need` no longer fits into the day. */
export function isExhausted(budget: Budget | null, state: BudgetState | null, need: Cost): boolean {
  return budget !== null && state !== null && exceeds(budget, state, need);
}

/** Returns true if 80 % of the day's calls or money are used. */
export function isNearlyExhausted(budget: Budget | null, state: BudgetState | null): boolean {
  if (budget === null || state === null) return false;
  const { model_calls_per_day: calls, usd_per_day: usd } = budget;
  if (calls !== null && state.calls >= warningShare * calls) return true;
  return usd !== null && state.micro_usd >= warningShare * toMicroUsd(usd);
}

/** Converts US dollars to millionths. */
export function toMicroUsd(usd: number): number {
  return Math.round(usd * 1_000_000);
}

function forfeited(state: BudgetState): BudgetState {
  if (state.reserved === null) return state;
  const { calls, micro_usd } = state.reserved;
  return { ...state, calls: state.calls + calls, micro_usd: state.micro_usd + micro_usd, reserved: null };
}

function exceeds({ model_calls_per_day: calls, usd_per_day: usd }: Budget, used: BudgetState, need: Cost) {
  if (calls !== null && used.calls + need.calls > calls) return true;
  return usd !== null && used.micro_usd + need.micro_usd > toMicroUsd(usd);
}
