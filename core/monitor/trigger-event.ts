import type { TickOutcome } from '../tick/tick-outcome.ts';
import type { NewEvent } from '../records/event.ts';
import type { Counters, MonitorJob } from '../records/job.ts';

/** The alert: the condition, what the model saw, and the evidence picture. */
export function createTriggerEvent(
  job: MonitorJob,
  outcome: Extract<TickOutcome, { kind: 'judged' }>,
  counters: Counters,
): NewEvent {
  return {
    type: 'watch_triggered',
    data: {
      condition: job.config.condition,
      triggered: true,
      explanation: outcome.verdict.explanation,
      prefilter_skipped: false,
      frame_key: outcome.captured.frame_key,
      captured_at: outcome.captured.captured_at,
      triggers_fired: counters.triggers_fired,
    },
  };
}
