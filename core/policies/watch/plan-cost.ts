import type { RunChange } from '../../ports/run-store.ts';
import type { WatchRun } from '../../records/run.ts';
import type { Captured } from '../../sight/screening.ts';
import { groupFrames, type FrameCount } from '../../sight/group-frames.ts';
import { groupQuestions, type Questions } from '../../tick/ask-model.ts';
import { budgetOnDay, reserve, type Cost, type Reserved } from './budget.ts';
import { priceWorstCase, type TokenPrice } from './model-price.ts';
import { localDay } from './schedule.ts';

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
