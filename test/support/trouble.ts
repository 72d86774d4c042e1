import { initialConditionState } from '../../core/policies/watch/initial-state.ts';
import { rules } from '../../core/rules.ts';
import type { ModelTrouble, StreamTrouble } from '../../core/records/sight.ts';
import { start } from '../contract/records.ts';

/** Returns the trouble of a model whose calls have failed in a row. */
export function failingModel(failures: number): ModelTrouble {
  const failure = { code: 'VLM_ERROR', message: 'It is down', remediation: 'Wait.' };
  return { since: start.toISOString(), lost: false, failures, failure };
}

/** Stream that is lost since `start`. */
export const lostStream: StreamTrouble = {
  since: start.toISOString(),
  lost: true,
  reason: 'unreachable',
  captures: 9,
};

/** State of a condition that was clear, and that the model cannot judge any more. */
export const notJudged = {
  ...initialConditionState('person', new Date(0)),
  phase: 'clear' as const,
  unjudged: rules.maxUnjudged,
};
