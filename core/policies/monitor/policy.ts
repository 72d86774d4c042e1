import type { MonitorJob } from '../../records/job.ts';
import type { Run } from '../../records/run.ts';
import type { Captured } from '../../sight/screening.ts';
import { atTick } from '../../sight/clock-change.ts';
import type { Judgement } from '../../tick/ask-model.ts';
import { mapJobTimes } from '../../tick/clock-change.ts';
import { screenCapture } from '../../tick/screen-capture.ts';
import type { TickOutcome } from '../../tick/tick-outcome.ts';
import type { JobSettings } from '../job-policy.ts';
import { jobPolicy, planJobTick } from '../job-policy.ts';
import type { Policy } from '../policy.ts';
import { decideMonitorTick } from './after-tick.ts';

/** One question about each fresh capture; an alert for a verdict that holds. */
export function createMonitorPolicy(settings: JobSettings): Policy<MonitorJob, TickOutcome> {
  return {
    ...jobPolicy,
    owns: (run: Run): run is MonitorJob => run.policy === 'monitor',
    work: (stored, output, at) => {
      const { run: job, now } = atTick(stored, at, mapJobTimes);
      // After a failed model call the same frame is checked again.
      const screening = screenCapture(job, output, now, job.sight.model_trouble !== null);
      if (screening.kind !== 'fresh') return { kind: 'seen', seen: screening };
      const { condition, input_mode: mode } = job.config;
      return {
        kind: 'check',
        captured: screening.captured,
        judged: (judgement) => readJudgement(screening.captured, judgement),
        questions: { joint: [], separate: [{ condition_id: '', condition }] },
        mode,
        previousKey: job.sight.last_frame?.key,
      };
    },
    decide: (stored, tick, now) => planJobTick(stored, tick, now, settings, decideMonitorTick),
    pictures: ({ sight: { last_frame: last } }) =>
      last ? [{ key: last.key, isEvidence: last.evidence }] : [],
    evidence: (_, seen, { events }) => {
      if (seen.kind !== 'judged' || seen.verdict.shown_at_seconds === undefined) return [];
      const { frame_key, clip_key } = seen.captured;
      const atSeconds = seen.verdict.shown_at_seconds;
      return events.flatMap((event) =>
        event.type === 'watch_triggered'
          ? [{ key: event.data.frame_key, frame_key, clip_key, atSeconds }]
          : [],
      );
    },
  };
}

function readJudgement(captured: Captured, judgement: Judgement | undefined): TickOutcome {
  if (judgement === undefined)
    return { kind: 'unavailable', message: 'The capture was removed before its check' };
  const { answers, failure, busy, calls } = judgement;
  const [answer] = answers;
  if (failure) return { kind: 'model_failed', failure, captured };
  if (busy || !answer) return { kind: 'model_busy', captured };
  const tokens = calls[0] ?? { input_tokens: 0, output_tokens: 0 };
  const unjudged = { triggered: false, judged: false, explanation: answer.unjudgedReason ?? '' };
  return { kind: 'judged', verdict: { ...(answer.verdict ?? unjudged), tokens }, captured };
}
