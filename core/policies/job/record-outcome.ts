import { afterTick, type PolicySight } from '../../sight/after-tick.ts';
import { afterModelCall } from '../../sight/trouble.ts';
import type { Failure } from '../../records/failure.ts';
import type { Counters, Job, JobSight } from '../../records/job.ts';
import type { ModelTrouble } from '../../records/sight.ts';
import { rules } from '../../rules.ts';
import { ageSeconds } from '../../time.ts';
import { addGaps } from './coverage.ts';
import { intervalSeconds } from './next-tick.ts';
import { readTimes, type JobOutcome, type TickTimes } from './outcome.ts';

/** Returns the counters and the sight of a job after a tick; the same for every type of job. */
export function recordOutcome(
  job: Job,
  outcome: JobOutcome,
  now: Date,
  stretch = 1,
): { counters: Counters; sight: JobSight } {
  const { at: frameAt } = readTimes(outcome, now);
  const { sight, spans } = afterTick(
    job,
    outcome,
    readSight(outcome),
    { at: frameAt, now, stretch, intervalSeconds: intervalSeconds(job) },
    {
      outlivesStream: false,
      reportsStills: false,
      modelGrace: modelGrace(job),
      staleEndsWaits: true,
    },
  );
  return { counters: count(job.counters, outcome), sight: { ...sight, ...addGaps(job.sight, spans) } };
}

function readSight(outcome: JobOutcome): PolicySight {
  switch (outcome.kind) {
    case 'judged':
      return {
        seen: 'seen',
        modelFailure: null,
        verdicts: outcome.captured.black ? undefined : [outcome.verdict],
      };
    case 'sampled':
      return { seen: 'seen', verdicts: [] };
    case 'model_failed':
      return { seen: 'model', modelFailure: outcome.failure };
    case 'model_busy':
      return { seen: 'service' };
    default:
      return { seen: 'seen' };
  }
}

/** Returns the trouble of the model after the call of a tick: `failure` is `null` if it answered. */
export function recordModelCall(
  job: Job,
  failure: Failure | null,
  { at }: Pick<TickTimes, 'at'>,
  now: Date,
): ModelTrouble | null {
  const lateSeconds = job.next === null ? 0 : ageSeconds(job.next.wait_until, at);
  return afterModelCall(job.sight.model_trouble, failure, modelGrace(job), { lateSeconds, now });
}

function modelGrace({ model_grace_seconds: seconds }: Job) {
  return { failures: rules.maxModelFailures, seconds };
}

function count(before: Counters, outcome: JobOutcome): Counters {
  const counters = { ...before };
  const tokens = outcome.kind === 'judged' ? outcome.verdict.tokens : 'tokens' in outcome && outcome.tokens;
  if (tokens) {
    counters.input_tokens += tokens.input_tokens;
    counters.output_tokens += tokens.output_tokens;
  }
  if (outcome.kind === 'judged') {
    const { verdict, earlier } = outcome;
    // A condition that cannot be judged has no verdict.
    if (verdict.judged !== false || earlier) counters.checks_performed += 1;
    if (outcome.missed) counters.checks_missed += 1;
    counters.frames_captured += 1;
  }
  if (outcome.kind === 'sampled') {
    counters.checks_performed += 1;
    counters.frames_captured += 1;
  }
  if (outcome.kind === 'model_failed' || outcome.kind === 'model_busy') {
    counters.checks_missed += 1;
    counters.frames_captured += 1;
  }
  if (outcome.kind === 'skipped') {
    counters.frames_skipped += 1;
    if (outcome.why === 'frozen') counters.frozen_frames += 1;
    if (outcome.why === 'black') counters.black_frames += 1;
  }
  if (outcome.kind === 'stale') counters.stale_captures += 1;
  if (outcome.kind === 'capture_failed' || outcome.kind === 'unavailable') counters.failed_captures += 1;
  return counters;
}
