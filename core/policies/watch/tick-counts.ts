import type { CallerUse } from '../../records/caller.ts';
import type { ConditionState, WatchCounts } from '../../records/watch-state.ts';
import { isUnjudgeable } from './condition.ts';
import { toHour, type HourlyCounts } from './hourly-counts.ts';
import type { WatchOutcome } from './outcome.ts';

export type AlertCounts = { opened: number; closed: number; reminders: number };

/** Returns the counts of a tick, in the hour of its commit. `conditions`: their states after it. */
export function countTick(
  outcome: WatchOutcome,
  { opened, closed, reminders }: AlertCounts,
  conditions: readonly ConditionState[],
  now: Date,
): HourlyCounts[] {
  const counts: Partial<WatchCounts> = {
    ticks: 1,
    alerts_opened: opened,
    alerts_closed: closed,
    reminders,
    ...outcomeCounts(outcome),
  };
  const unsure = listUnsure(outcome, conditions);
  const seen = { spans: [], unjudged: {}, unsure: Object.fromEntries(unsure.map((id) => [id, 1])) };
  return [{ hour: toHour(now), counts, ...(unsure.length > 0 && { seen }) }];
}

/** Lists the conditions that a check was not sure of. */
export function listUnsure(outcome: WatchOutcome, conditions: readonly ConditionState[]): string[] {
  return conditions.flatMap((state) => (isUnsure(outcome, state) ? [state.condition_id] : []));
}

/**
 * Returns true if a check did not see a condition hold, but may have: by a verdict of the model, or because it gave
 * none to one that it can judge.
 */
function isUnsure(outcome: WatchOutcome, state: ConditionState): boolean {
  if (outcome.kind !== 'judged') return false;
  const answers = [...outcome.earlier.flatMap((moment) => moment.answers), ...outcome.answers].filter(
    ({ condition_id: id }) => id === state.condition_id,
  );
  if (answers.some(({ verdict }) => verdict?.triggered)) return false;
  return answers.some(
    ({ verdict, unjudgedReason }) =>
      verdict?.unsure || (unjudgedReason !== undefined && !isUnjudgeable(state)),
  );
}

function outcomeCounts(outcome: WatchOutcome): Partial<WatchCounts> {
  switch (outcome.kind) {
    case 'judged': {
      const { used } = outcome;
      const answers = [...outcome.earlier.flatMap((moment) => moment.answers), ...outcome.answers];
      const verdicts = answers.filter(({ verdict }) => verdict !== null).length;
      return {
        verdicts,
        not_judged: answers.length - verdicts,
        checks: verdicts > 0 ? 1 : 0,
        ...countUse(used),
      };
    }
    case 'skipped':
      return {
        skipped: 1,
        frozen: outcome.why === 'frozen' ? 1 : 0,
        black: outcome.why === 'black' ? 1 : 0,
      };
    case 'stale':
      return { stale: 1 };
    case 'capture_failed':
    case 'unavailable':
      return { failed_captures: 1 };
    case 'no_capture':
      return outcome.used ? countUse(outcome.used) : {};
    case 'ended':
    case 'not_asked':
      return {};
  }
}

function countUse(used: CallerUse): Partial<WatchCounts> {
  const { model_errors: model_failures, ...others } = used;
  return { model_failures, ...others };
}
