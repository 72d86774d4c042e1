import { recordModelWait } from '../job/coverage.ts';
import { recordOutcome } from '../job/record-outcome.ts';
import { createProgressEvent } from '../job/progress.ts';
import { modelFailureEnding, readTimes } from '../job/outcome.ts';
import { rules } from '../../rules.ts';
import { addSeconds, earlier } from '../../time.ts';
import type { JobEnding, TickDecision, JobOutcome } from '../job/outcome.ts';
import { nextCaptureAt, scheduleTick } from '../job/next-tick.ts';
import type { NewEvent } from '../../records/event.ts';
import type { JobOf } from '../../records/job.ts';
import type { DigestState } from './records.ts';
import type { NextTick } from '../../records/run-base.ts';
import type { WindowClosure } from '../../records/window-closure.ts';
import { applyClosure, type DigestSnapshot } from './apply-closure.ts';
import { addCapture, closeUnasked, nextWindowEnd, planFinalClosure } from './window-closure.ts';

/**
 * Decides a tick of a digest: keeps the sample, applies the window closure, ends the job or plans the next sample or
 * window end.
 */
export function decideDigestTick(
  job: JobOf<'digest'>,
  outcome: JobOutcome,
  now: Date,
  stretch = 1,
): DigestDecision {
  const sampled = { ...recordOutcome(job, outcome, now, stretch), state: addCapture(job, outcome, now) };
  const { events: summaries, ending, ...numbers } = closeWindows(job, sampled, outcome, now);
  const next = ending
    ? scheduleTick(job, now, outcome, numbers.sight, { done: true })
    : nextStep(job, outcome, numbers, now, stretch);
  const progress: NewEvent[] =
    outcome.kind === 'no_capture' ? [] : [createProgressEvent(job, outcome, numbers.counters, next)];
  const { askedAt } = readTimes(outcome, now);
  const sight = recordModelWait({ ...job, state: numbers.state }, numbers.sight, askedAt, now);
  return { ...numbers, sight, events: [...progress, ...summaries], next, ending };
}

type DigestDecision = TickDecision & { state: DigestState };
type Closed = DigestSnapshot & { events: NewEvent[]; ending: JobEnding | undefined };

/**
 * Applies the closure of a tick. If the model has failed for too long, all remaining windows are closed without a
 * summary.
 */
function closeWindows(job: JobOf<'digest'>, before: DigestSnapshot, outcome: JobOutcome, now: Date): Closed {
  const { closed } = outcome;
  if (!closed) return { ...before, events: [], ending: undefined };
  const times = readTimes(outcome, now);
  const after = applyClosure(job, before, closed, times, now);
  if (closed.result.kind !== 'missed') return { ...after, ending: endingAfter(closed.closing) };
  const failed = modelFailureEnding(after.sight);
  if (!failed) return { ...after, ending: undefined };
  const { reason, failure } = failed;
  const endAt = closed.closing.end?.at ?? times.askedAt.toISOString();
  const closing = planFinalClosure(job, after.state, { at: endAt, reason, failure });
  return { ...applyClosure(job, after, closeUnasked(closing), times, now), ending: endingAfter(closing) };
}

function endingAfter({ last, end }: WindowClosure): JobEnding | undefined {
  if (!last || end === null) return undefined;
  const { reason, failure } = end;
  return failure ? { status: 'failed', reason, failure } : { status: 'stopped', reason };
}

/**
 * Plans the next sample, or the end of a window if that is earlier. After the end of the digest only summaries remain.
 */
function nextStep(
  job: JobOf<'digest'>,
  outcome: JobOutcome,
  { sight, state }: DigestSnapshot,
  now: Date,
  stretch: number,
): NextTick {
  const missed = outcome.closed?.result.kind === 'missed';
  const retryAt = addSeconds(now, rules.summaryRetrySeconds);
  if (state.end !== null) return scheduleTick(job, missed ? retryAt : now, outcome, sight, { closing: true });
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  const captureAt = nextCaptureAt(job, sight, now, stretch);
  const closingAt = missed ? retryAt : beforeDeadline(nextWindowEnd(job, state, now), deadline, now);
  const tickAt = earlier(captureAt, closingAt);
  const closing = captureAt > closingAt || (deadline !== undefined && tickAt >= deadline);
  return scheduleTick(job, tickAt, outcome, sight, { closing, stretch });
}

function beforeDeadline(time: Date, deadline: Date | undefined, now: Date): Date {
  return deadline === undefined || deadline <= now ? time : earlier(time, deadline);
}
