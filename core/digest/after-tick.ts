import { account } from '../decision/account.ts';
import { describeProgress } from '../decision/describe-progress.ts';
import { lostStream, silentModel } from '../decision/failure.ts';
import { rules } from '../decision/rules.ts';
import { addSeconds, earlier } from '../decision/schedule.ts';
import type { Ending, TickDecision } from '../decision/tick-decision.ts';
import type { TickOutcome } from '../decision/tick-outcome.ts';
import { nextCaptureAt, nothingFollows, wakeAt } from '../decision/wake-up.ts';
import type { NewEvent } from '../event.ts';
import type { DigestJob, Next } from '../job.ts';
import { closeWindows } from './close-windows.ts';
import type { DigestNumbers } from './close-windows.ts';
import { nextClosingAt, withPicture } from './window.ts';

/** What a digest's tick decides: the sample, the windows that are over, the end, the next sample or end of a window. */
export function decideDigestTick(job: DigestJob, outcome: TickOutcome, now: Date): TickDecision {
  const sampled = { ...account(job, outcome, now), digest: withPicture(job, outcome) };
  const { events: summaries, ...numbers } = outcome.closed
    ? closeWindows(job, sampled, outcome.closed, now)
    : { ...sampled, events: [] };
  const ending = endOf(job, outcome, numbers, now);
  const next = ending ? nothingFollows(outcome, now) : nextStep(job, outcome, numbers, now);
  const progress: NewEvent[] =
    outcome.kind === 'due' ? [] : [describeProgress(job, outcome, numbers.counters, next)];
  return { ...numbers, events: [...progress, ...summaries], next, ending };
}

function endOf(
  job: DigestJob,
  outcome: TickOutcome,
  { watch, digest }: DigestNumbers,
  now: Date,
): Ending | undefined {
  const result = outcome.closed?.result;
  const missed = result?.kind === 'missed' ? result.failure : undefined;
  if (outcome.closed?.closing.last && !missed)
    return { status: 'stopped', reason: whyOver(job, outcome, digest.summarized) };
  return lostStream(outcome, watch, now) ?? silentModel(missed, watch);
}

function whyOver(job: DigestJob, { kind }: TickOutcome, summarized: number) {
  if (kind === 'ended') return 'stream_ended';
  const { max_windows: maxWindows } = job.config;
  return maxWindows !== null && summarized >= maxWindows ? 'max_windows_reached' : 'max_duration_reached';
}

/** The next picture, or the end of a window where that comes first. A stream that has ended is asked again whether it has. */
function nextStep(job: DigestJob, outcome: TickOutcome, { watch, digest }: DigestNumbers, now: Date): Next {
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  const captureAt = nextCaptureAt(job, watch, now);
  const closingAt =
    outcome.closed?.result.kind === 'missed'
      ? addSeconds(now, rules.summaryRetrySeconds)
      : beforeDeadline(nextClosingAt(job, digest, now), deadline, now);
  const at = earlier(captureAt, closingAt);
  const captures = outcome.kind === 'ended' || captureAt <= closingAt;
  return wakeAt(at, !captures || (deadline !== undefined && at >= deadline), outcome, watch);
}

function beforeDeadline(at: Date, deadline: Date | undefined, now: Date): Date {
  return deadline === undefined || deadline <= now ? at : earlier(at, deadline);
}
