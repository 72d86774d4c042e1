import type { NewEvent } from '../../records/event.ts';
import type { Counters, Job } from '../../records/job.ts';
import type { NextTick } from '../../records/run-base.ts';
import { busyExplanation, describeCapture, explainScreening } from '../../tick/describe-capture.ts';
import type { JobOutcome } from './outcome.ts';

/** Creates the `progress` event of a tick with a capture. */
export function createProgressEvent(
  job: Job,
  outcome: Exclude<JobOutcome, { kind: 'no_capture' }>,
  counters: Counters,
  next: NextTick,
): NewEvent {
  const verdict = outcome.kind === 'judged' && !outcome.captured.black ? outcome.verdict : null;
  return {
    type: 'progress',
    data: {
      check: job.last_tick + 1,
      checks_performed: counters.checks_performed,
      frames_skipped: counters.frames_skipped,
      triggers_fired: counters.triggers_fired,
      triggered: verdict && verdict.triggered,
      judged: verdict && verdict.judged !== false,
      ...describeCapture(outcome, explain(outcome) + withoutSummary(outcome), next, outcome.kind === 'ended'),
    },
  };
}

function explain(outcome: Exclude<JobOutcome, { kind: 'no_capture' }>): string {
  switch (outcome.kind) {
    case 'judged':
      return outcome.verdict.explanation;
    case 'sampled':
      return 'This picture goes into the summary of its window.';
    case 'model_failed':
      return `The model gave no verdict: ${outcome.failure.message}.`;
    case 'model_busy':
      return busyExplanation;
    case 'ended':
      return 'The stream has ended.';
    default:
      return explainScreening(outcome);
  }
}

/** A pending summary is visible here, because its own event waits for the model. */
function withoutSummary({ closed }: JobOutcome): string {
  if (closed?.result.kind !== 'missed') return '';
  return ` The model gave no summary: ${closed.result.failure.message}. It is asked again.`;
}
