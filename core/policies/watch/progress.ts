import type { NewWatchEvent } from '../../records/watch-event.ts';
import type { NextTick } from '../../records/run-base.ts';
import type { ConditionState, WatchCauses, WatchStatus } from '../../records/watch-state.ts';
import {
  blackExplanation,
  busyExplanation,
  describeCapture,
  explainScreening,
} from '../../tick/describe-capture.ts';
import { shorten } from './condition.ts';
import type { WatchOutcome } from './outcome.ts';
import type { Sight } from '../../records/sight.ts';

type Outcome = Exclude<WatchOutcome, { kind: 'no_capture' }>;

/** Creates the `progress` event of a tick, with the verdict of each condition and its phase after the tick. */
export function createWatchProgress(
  tick: number,
  outcome: Outcome,
  conditions: readonly ConditionState[],
  next: NextTick,
): NewWatchEvent {
  const answers = outcome.kind === 'judged' ? outcome.answers : [];
  const moments = outcome.kind === 'judged' ? outcome.earlier.length : 0;
  const answersById = new Map(answers.map((answer) => [answer.condition_id, answer]));
  return {
    type: 'progress',
    data: {
      check: tick,
      conditions: conditions.map(({ condition_id: id, phase }) => {
        const { verdict, unjudgedReason } = answersById.get(id) ?? {};
        const explanation = shorten(verdict?.explanation ?? unjudgedReason ?? '');
        return { condition_id: id, triggered: verdict?.triggered ?? null, state: phase, explanation };
      }),
      ...describeCapture(outcome, explain(outcome), next),
      ...(moments > 0 && { moments_judged: moments }),
    },
  };
}

function explain(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'judged':
      if (outcome.busy) return busyExplanation;
      if (outcome.failure) return `The model gave no verdict: ${outcome.failure.message}.`;
      return outcome.captured.black ? blackExplanation : '';
    case 'not_asked':
      return outcome.why === 'budget'
        ? "The day's budget is used up; the model is not asked."
        : 'The model has no price, and the budget is in dollars; the model is not asked.';
    case 'ended':
      return 'The stream has ended. It is tried again.';
    default:
      return explainScreening(outcome);
  }
}

/** Returns the status: the first cause that applies, in a fixed order. */
export function watchStatus(
  { paused, off_schedule, budget_exhausted }: WatchCauses,
  { stream_trouble: trouble }: Pick<Sight, 'stream_trouble'>,
): WatchStatus {
  if (paused) return 'paused';
  if (off_schedule) return 'off_schedule';
  if (budget_exhausted) return 'budget_exhausted';
  return trouble?.lost ? 'stream_lost' : 'active';
}
