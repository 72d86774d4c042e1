import type { CallerUse } from '../../records/caller-use.ts';
import type { Budget } from '../../records/watch.ts';
import type { BudgetState } from '../../records/watch-state.ts';

/** Model calls, and their price in millionths of a US dollar. */
export type Cost = { calls: number; micro_usd: number };

/** Reservation of a check, and its day. */
export type Reserved = NonNullable<BudgetState['reserved']> & Pick<BudgetState, 'day'>;

const warningShare = 0.8;

/**
 * Returns the use on a day: a new day begins with nothing used. A day before the stored one is no new day: the clock
 * was set back, or the time zone changed.
 */
export function budgetOnDay(state: BudgetState | null, date: string): BudgetState {
  if (state && state.day >= date) return { ...state, day: date };
  return { day: date, calls: 0, micro_usd: 0, unpriced_calls: 0, reserved: null, warned: false };
}

/**
 * Reserves the worst case of a check's calls; it is committed before the first call, in the version of the watch that
 * it is planned for. A reservation that is left belongs to a check that crashed, or that a change overtook: its calls
 * may have been made, so it counts as used. Returns undefined if the day does not cover the calls.
 */
export function reserve(
  budget: Budget,
  state: BudgetState,
  version: number,
  need: Cost,
): BudgetState | undefined {
  const used = forfeited(state);
  return exceeds(budget, used, need) ? undefined : { ...used, reserved: { version, ...need } };
}

/**
 * Replaces the reservation of a check by the cost of its calls, on the day of its end. One that counts as used already,
 * because another tick came first, is given back. Without a check, a reservation that is left counts as used.
 */
export function settle(
  state: BudgetState,
  used: Pick<CallerUse, 'model_calls' | 'micro_usd' | 'unpriced_calls'> | null,
  own: Reserved | undefined,
): BudgetState {
  const isOpen = own !== undefined && state.reserved?.version === own.version;
  const before = isOpen ? { ...state, reserved: null } : forfeited(state);
  const back = own && !isOpen && own.day === state.day ? own : nothing;
  return {
    ...before,
    calls: Math.max(0, before.calls - back.calls) + (used?.model_calls ?? 0),
    micro_usd: Math.max(0, before.micro_usd - back.micro_usd) + (used?.micro_usd ?? 0),
    unpriced_calls: before.unpriced_calls + (used?.unpriced_calls ?? 0),
  };
}

const nothing: Cost = { calls: 0, micro_usd: 0 };

/** Returns true if `need` no longer fits into the day. */
export function isExhausted(budget: Budget | null, state: BudgetState, need: Cost): boolean {
  return budget !== null && exceeds(budget, state, need);
}

/** Returns true if 80 % of the day's calls or money are used. */
export function isNearlyExhausted(budget: Budget | null, state: BudgetState): boolean {
  if (budget === null) return false;
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
