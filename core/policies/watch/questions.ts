import type { WatchCondition } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import type { CaptureResult } from '../../records/workflow.ts';
import { rules } from '../../rules.ts';
import { screenOutput, type Screening } from '../../sight/screening.ts';
import type { Questions } from '../../tick/ask-model.ts';
import { isPending, isSeenClear, isUnjudgeable } from './condition.ts';
import { awaitsOpening } from './holding.ts';

/**
 * Screens the capture of a watch. The pre-filter is bypassed while a condition needs a verdict. A repeated frame is
 * never judged: a confirming check waits for a new segment. `newestAt`: time of the newest frame.
 */
export function screenWatchCapture(
  { config, state, sight }: WatchRun,
  output: CaptureResult,
  newestAt: Date,
): Screening {
  const isBypassed = config.conditions.some((rule) => {
    const condition = findState(state.conditions, rule);
    if (!condition) return true;
    const isScanned = config.look_back && sight.scan !== undefined && condition.unjudged === 0;
    return !(isScanned && isSeenClear(condition)) && needsVerdict(condition, rule, newestAt);
  });
  return screenOutput(output, {
    prefilter: config.enable_prefilter && !isBypassed,
    skippedInARow: sight.skipped_in_a_row,
    judgesRepeated: false,
  });
}

/**
 * Returns true if a condition is unknown, partly confirmed or denied, without a verdict of its last check, or held back
 * from its opening. One that the model cannot judge waits for motion as others do.
 */
function needsVerdict(condition: ConditionState, rule: WatchCondition, newestAt: Date): boolean {
  if (isUnjudgeable(condition)) return false;
  const { phase, unjudged, holding } = condition;
  if (phase === 'unknown' || unjudged > 0 || isPending(condition, rule)) return true;
  return (holding?.denied ?? 0) > 0 || awaitsOpening(condition, rule, newestAt);
}

/** Returns the questions of a check: a confirming one has only the pending conditions. */
export function planQuestions({ config, state, next }: WatchRun): Questions {
  const asked = config.conditions.filter((rule) => {
    const condition = findState(state.conditions, rule);
    return !next?.confirming || !condition || isPending(condition, rule);
  });
  return splitQuestions(asked, state.conditions);
}

/** Returns the questions of a check of all conditions, the worst case of a tick. */
export function planAllQuestions({ config, state }: WatchRun): Questions {
  return splitQuestions(config.conditions, state.conditions);
}

function splitQuestions(asked: readonly WatchCondition[], states: readonly ConditionState[]): Questions {
  const isSeparate = (rule: WatchCondition) => (findState(states, rule)?.left_out ?? 0) >= rules.maxLeftOut;
  return { joint: asked.filter((rule) => !isSeparate(rule)), separate: asked.filter(isSeparate) };
}

export function findState(
  states: readonly ConditionState[],
  { condition_id: id }: WatchCondition,
): ConditionState | undefined {
  return states.find(({ condition_id: other }) => other === id);
}
