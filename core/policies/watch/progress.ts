import type { NewWatchEvent } from '../../records/watch-event.ts';
import type { NextTick } from '../../records/run-base.ts';
import type { ConditionState } from '../../records/watch-state.ts';
import { busyExplanation, skipExplanations } from '../../tick/progress-event.ts';
import { shorten } from './condition.ts';
import type { WatchOutcome } from './outcome.ts';

type Outcome = Exclude<WatchOutcome, { kind: 'no_capture' }>;

/** Creates the `progress` event of a tick, with the verdict of each condition and its phase after the tick. */
export function createWatchProgress(
  tick: number,
  outcome: Outcome,
  conditions: readonly ConditionState[],
  next: NextTick,
): NewWatchEvent {
  const captured = 'captured' in outcome ? outcome.captured : null;
  const answers = outcome.kind === 'judged' ? outcome.answers : [];
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
      prefilter_skipped: outcome.kind === 'skipped',
      motion: captured ? captured.changed_share : null,
      explanation: explain(outcome),
      captured_at: captured ? captured.captured_at : null,
      stream: streamState(outcome),
      picture: pictureState(outcome),
      next_check_at: next.done ? null : next.wait_until,
    },
  };
}

function streamState({ kind }: Outcome): 'ok' | 'stale' | 'reconnecting' {
  if (kind === 'stale') return 'stale';
  return kind === 'capture_failed' || kind === 'unavailable' || kind === 'ended' ? 'reconnecting' : 'ok';
}

function pictureState(outcome: Outcome): 'ok' | 'frozen' | 'black' | 'repeated' | null {
  if (outcome.kind === 'judged' || outcome.kind === 'not_asked') return 'ok';
  if (outcome.kind === 'stale') return 'repeated';
  if (outcome.kind !== 'skipped') return null;
  return outcome.why === 'no_motion' ? 'ok' : outcome.why;
}

function explain(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'judged':
      if (outcome.busy) return busyExplanation;
      return outcome.failure ? `The model gave no verdict: ${outcome.failure.message}.` : '';
    case 'not_asked':
      return outcome.why === 'budget'
        ? "The day's budget is used up; the model is not asked."
        : 'The model has no price, and the budget is in dollars; the model is not asked.';
    case 'skipped':
      return skipExplanations[outcome.why];
    case 'stale':
      return 'The playlist has stopped moving on; its last picture is not judged again.';
    case 'capture_failed':
      return `No picture: ${outcome.message}. ${outcome.remediation}`;
    case 'unavailable':
      return `No picture, which is no fault of the stream: ${outcome.message}. It is tried again.`;
    case 'ended':
      return 'The stream has ended. It is tried again.';
  }
}
