import { addUse, noUse, type CallerUse } from '../../records/caller.ts';
import type { ModelCall, TokenUse } from '../../records/vision.ts';
import type { Budget } from '../../records/watch.ts';
import type { BudgetState } from '../../records/watch-state.ts';
import type { RunChange } from '../../ports/runs.ts';
import type { WatchRun } from '../../records/run.ts';
import type { Captured } from '../../sight/screening.ts';
import { groupFrames, type FrameCount } from '../../sight/group-frames.ts';
import { groupQuestions, type Questions } from '../../tick/ask-model.ts';
import { localDay } from './schedule.ts';

/** List price of a model, in US dollars per token. Local models cost 0. */
export type TokenPrice = { input: number; output: number };

/**
 * Maximum tokens of one call: a ten-second clip with a frame and eight conditions of a thousand characters, and the
 * question what is visible; the answers.
 */
const worstCase: TokenUse = { input_tokens: 16_040, output_tokens: 1_240 };

/**
 * Returns what calls count everywhere: in the use of their caller, the statistics of a watch and its budget. A failed
 * one costs the tokens that it states.
 */
export function sumCalls(price: TokenPrice | null, calls: readonly ModelCall[]): CallerUse {
  return calls
    .map(({ input_tokens, output_tokens, failed = false }) => ({
      model_calls: 1,
      model_errors: failed ? 1 : 0,
      input_tokens,
      output_tokens,
      micro_usd: priceTokens(price, { input_tokens, output_tokens }),
      unpriced_calls: price === null && (!failed || input_tokens > 0) ? 1 : 0,
    }))
    .reduce(addUse, noUse);
}

/** Returns the maximum price of one call about a frame or clip, in millionths of a dollar. */
export function priceWorstCase(price: TokenPrice | null): number {
  return priceTokens(price, worstCase);
}

function priceTokens(price: TokenPrice | null, { input_tokens: input, output_tokens: output }: TokenUse) {
  return price === null ? 0 : Math.ceil((input * price.input + output * price.output) * 1_000_000);
}

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
function reserve(budget: Budget, state: BudgetState, version: number, need: Cost): BudgetState | undefined {
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

export type CostSettings = {
  /** `null` if the price of the model is unknown: then a watch can have no budget in dollars. */
  modelPrice: TokenPrice | null;
};

/** Moments to check, and the commit of their worst case, which a watch without a budget does not need. */
type PlannedCheck = { moments: Captured['moments']; reservation?: RunChange; reserved?: Reserved };

/**
 * Plans the check of a capture within the day's budget: all of its moments, else its newest frame alone, which a black
 * one cannot be. The times may have moved with the clock, all or none of them.
 */
export function planCheck(
  watch: WatchRun,
  { moments = [], black }: Captured,
  questions: Questions,
  settings: CostSettings,
  now: Date,
): PlannedCheck | 'exhausted' {
  const { config, state, next, sight } = watch;
  const { budget, input_mode: mode } = config;
  if (budget === null) return { moments };
  const day = localDay(config.schedule?.time_zone ?? 'UTC', now);
  const before = budgetOnDay(state.budget, day.date);
  for (const asked of moments.length === 0 || black ? [moments] : [moments, []]) {
    const need = computeCost(questions, { earlier: asked.length, black, mode }, settings);
    const after = reserve(budget, before, watch.version, need);
    if (after === undefined) continue;
    const set = { state: { ...state, budget: after }, next, sight };
    const reservation = { runId: watch.run_id, expectedVersion: watch.version, set, events: [] };
    return { moments: asked, reservation, reserved: { version: watch.version, day: day.date, ...need } };
  }
  return 'exhausted';
}

/** Computes the worst case of the calls about a capture. */
export function computeCost(
  questions: Questions,
  { mode, ...count }: FrameCount & { mode: WatchRun['config']['input_mode'] },
  { modelPrice }: CostSettings,
): Cost {
  // A server that refuses several pictures has a call for each.
  const calls = groupQuestions(questions).length * groupFrames(count, mode, false).length;
  return { calls, micro_usd: calls * priceWorstCase(modelPrice) };
}
