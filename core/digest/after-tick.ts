import { recordOutcome } from '../tick/record-outcome.ts';
import { createProgressEvent } from '../tick/progress-event.ts';
import { streamLostEnding, modelFailureEnding } from '../tick/tick-outcome.ts';
import { rules } from '../rules.ts';
import { addSeconds, earlier } from '../time.ts';
import type { JobEnding, TickDecision, TickOutcome } from '../tick/tick-outcome.ts';
import { nextCaptureAt, noFurtherTick, scheduleTick } from '../tick/next-tick.ts';
import type { NewEvent } from '../records/event.ts';
import type { DigestJob, DigestState, NextTick } from '../records/job.ts';
import { applyClosure } from './apply-closure.ts';
import type { DigestSnapshot } from './apply-closure.ts';
import { nextWindowEnd, addCapture } from './window-closure.ts';

/** Decides a tick of a digest: keeps the sample, applies the window closure, ends the job or plans the next sample or window end. */
export function decideDigestTick(job: DigestJob, outcome: TickOutcome, now: Date, stretch = 1): TickDecision {
  const sampled = {
    ...recordOutcome(job, outcome, now, stretch),
    digest: withEnd(addCapture(job, outcome, now), outcome, now),
  };
  const { events: summaries, ...numbers } = outcome.closed
    ? applyClosure(job, sampled, outcome.closed, now)
    : { ...sampled, events: [] };
  const ending = findEnding(job, outcome, numbers, now);
  const next = ending ? noFurtherTick(outcome, now) : nextStep(job, outcome, numbers, now, stretch);
  const progress: NewEvent[] =
    outcome.kind === 'no_capture' ? [] : [createProgressEvent(job, outcome, numbers.counters, next)];
  return { ...numbers, events: [...progress, ...summaries], next, ending };
}

/** An ended stream is not captured again, so the state keeps its end until the summary succeeds. */
function withEnd(digest: DigestState, { kind, closed }: TickOutcome, now: Date): DigestState {
  if (kind !== 'ended' || digest.stream_ended_at !== null) return digest;
  return { ...digest, stream_ended_at: (closed?.closing.endsAt ?? now).toISOString() };
}

function findEnding(
  job: DigestJob,
  outcome: TickOutcome,
  { watch, digest }: DigestSnapshot,
  now: Date,
): JobEnding | undefined {
  const result = outcome.closed?.result;
  const missed = result?.kind === 'missed' ? result.failure : undefined;
  if (outcome.closed?.closing.last && !missed) return { status: 'stopped', reason: whyOver(job, digest) };
  const lost = digest.stream_ended_at === null ? streamLostEnding(outcome, watch, now) : undefined;
  return lost ?? modelFailureEnding(missed, watch, job, now);
}

function whyOver(job: DigestJob, { summarized, stream_ended_at: endedAt }: DigestState) {
  if (endedAt !== null) return 'stream_ended';
  const { max_windows: maxWindows } = job.config;
  return maxWindows !== null && summarized >= maxWindows ? 'max_windows_reached' : 'max_duration_reached';
}

/** Plans the next sample, or the end of a window if that is earlier. After the end of the stream only summaries remain. */
function nextStep(
  job: DigestJob,
  outcome: TickOutcome,
  { watch, digest }: DigestSnapshot,
  now: Date,
  stretch: number,
): NextTick {
  const missed = outcome.closed?.result.kind === 'missed';
  const retryAt = addSeconds(now, rules.summaryRetrySeconds);
  if (digest.stream_ended_at !== null) return scheduleTick(job, missed ? retryAt : now, true, outcome, watch);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  const captureAt = nextCaptureAt(job, watch, now, stretch);
  const closingAt = missed ? retryAt : beforeDeadline(nextWindowEnd(job, digest, now), deadline, now);
  const at = earlier(captureAt, closingAt);
  return scheduleTick(
    job,
    at,
    captureAt > closingAt || (deadline !== undefined && at >= deadline),
    outcome,
    watch,
    stretch,
  );
}

function beforeDeadline(at: Date, deadline: Date | undefined, now: Date): Date {
  return deadline === undefined || deadline <= now ? at : earlier(at, deadline);
}
