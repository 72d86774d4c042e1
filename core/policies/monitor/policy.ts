import type { JobOf, Job } from '../../records/job.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import type { JobDecisions } from '../job/policy.ts';
import { decideMonitorTick } from './decide-tick.ts';
import { monitorRequestSchema, planMonitor } from './create.ts';
import type { CaptureOutput } from '../../records/workflow.ts';
import { atTick } from '../../sight/clock-change.ts';
import type { Captured } from '../../sight/screening.ts';
import { isFailed, type Judgement } from '../../tick/ask-model.ts';
import { mapJobTimes } from '../job/map-times.ts';
import { blackExplanation } from '../../tick/describe-capture.ts';
import { screenCapture } from '../job/screen-capture.ts';
import type { JobOutcome } from '../job/outcome.ts';
import type { Work } from '../policy.ts';

type Asking = Extract<Job, { config: { condition: string } }>;

/** Plans one question about a fresh capture. */
function judgeOne(stored: Asking, output: CaptureOutput, time: Date): Work<JobOutcome> {
  const { run: job, now } = atTick(stored, time, mapJobTimes);
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
    moments: screening.captured.moments,
  };
}

function readJudgement(captured: Captured, judgement: Judgement | undefined): JobOutcome {
  if (judgement === undefined)
    return { kind: 'unavailable', message: 'The capture was removed before its check' };
  const { answers, failure, busy, calls } = judgement;
  const earlier = judgement.earlier.flatMap(({ answers: [first], ...moment }) =>
    first?.verdict ? [{ ...moment, verdict: first.verdict }] : [],
  );
  const [answer] = answers;
  // One frame that failed costs the others nothing.
  const hasVerdict = captured.black ? earlier.length > 0 : !!answer?.verdict;
  const tokens = {
    input_tokens: calls.reduce((sum, call) => sum + call.input_tokens, 0),
    output_tokens: calls.reduce((sum, call) => sum + call.output_tokens, 0),
  };
  if (failure && !hasVerdict) return { kind: 'model_failed', failure, captured, tokens };
  if (busy && !hasVerdict) return { kind: 'model_busy', captured };
  const missed = judgement.earlier.some((moment) => moment.answers.some(isFailed));
  const explanation = captured.black ? blackExplanation : (answer?.unjudgedReason ?? '');
  const unjudged = { triggered: false, judged: false, explanation };
  return {
    kind: 'judged',
    verdict: { ...(answer?.verdict ?? unjudged), tokens },
    captured,
    ...(earlier.length > 0 && { earlier }),
    ...(missed && { missed }),
  };
}

/** One question about each fresh capture; an alert for a verdict that holds. */
export const monitorDecisions: JobDecisions<JobOf<'monitor'>> = {
  planAgain: (request, deps) => planMonitor(monitorRequestSchema.parse(request), deps),
  work: judgeOne,
  decide: decideMonitorTick,
  evidence: (seen, { events }) => {
    if (seen.kind !== 'judged' || seen.verdict.shown_at_seconds === undefined) return [];
    const { frame_key, clip_key } = seen.captured;
    const atSeconds = seen.verdict.shown_at_seconds;
    const key = toShownKey(frame_key, atSeconds);
    return events.flatMap((event) =>
      event.type === 'watch_triggered' && event.data.frame_key === key
        ? [{ key, frame_key, clip_key, atSeconds }]
        : [],
    );
  },
};
