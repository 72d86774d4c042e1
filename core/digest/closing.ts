import { rules } from '../decision/rules.ts';
import type { TickOutcome } from '../decision/tick-outcome.ts';
import { earlier } from '../decision/schedule.ts';
import type { DigestJob, Failure } from '../job.ts';
import type { Summary } from '../vision.ts';
import type { DigestState, StoredSample } from './digest-state.ts';
import { startOfWindow, windowsOver, withPicture } from './window.ts';

/** `partial`: the job ends before the window does. */
export type WindowSpan = { index: number; start: Date; end: Date; partial: boolean };

/** Windows to close, oldest first. At most one of them has samples, so that the model is asked once. */
export type Closing = {
  spans: WindowSpan[];
  samples: StoredSample[];
  /** Set where these are the job's last windows. */
  last: boolean;
  /** When the job's last window ends; null while the job goes on. */
  endsAt: Date | null;
};

/** What came of asking for the summary of a closing's samples. */
export type SummaryResult =
  | { kind: 'summarized'; summary: Summary }
  /** Nobody is asked, or no longer; `why` there is no summary of samples that there were. */
  | { kind: 'none'; why: string | null }
  /** The windows stay as they are, and the model is asked again. */
  | { kind: 'missed'; failure: Failure };

/** `gridKey`: the samples as one picture, where that is asked for. */
export type ClosedWindows = { closing: Closing; result: SummaryResult; gridKey: string | null };

/** The last word where nobody waits for another try: the windows are closed without the summary that was missed. */
export function withoutRetry({ result, ...rest }: ClosedWindows): ClosedWindows {
  return result.kind === 'missed'
    ? { ...rest, result: { kind: 'none', why: `${result.failure.message}.` } }
    : { ...rest, result };
}

/** The windows that a tick closes: those that are over, and with the end of the job the open one too. */
export function closingOfTick(job: DigestJob, outcome: TickOutcome, now: Date): Closing | undefined {
  const digest = withPicture(job, outcome, now);
  if (digest.stream_ended_at !== null) return closingOfEnd(job, digest, new Date(digest.stream_ended_at));
  if (outcome.kind === 'ended') return closingOfEnd(job, digest, now);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  if (deadline !== undefined && now >= deadline) return closingOfEnd(job, digest, deadline);
  const spans = spansOver(job, digest, now);
  return spans.length === 0 ? undefined : closing(spans, digest, null);
}

/** The windows that are left when a job ends, up to its deadline. */
export function closingOfEnd(job: DigestJob, digest: DigestState, endedAt: Date): Closing {
  const end = job.deadline === null ? endedAt : earlier(endedAt, new Date(job.deadline));
  const spans = spansOver(job, digest, end);
  const open = spanOf(job, digest.summarized + spans.length + 1);
  const hasContent = open.start < end || digest.windows.some(({ index }) => index === open.index);
  const all = hasContent ? [...spans, { ...open, end, partial: true }] : spans;
  return closing(all, digest, end);
}

function spansOver(job: DigestJob, { summarized }: DigestState, at: Date): WindowSpan[] {
  const over = Math.max(0, windowsOver(job, at) - summarized);
  return Array.from({ length: over }, (_, offset) => spanOf(job, summarized + 1 + offset));
}

function spanOf(job: DigestJob, index: number): WindowSpan {
  return { index, start: startOfWindow(job, index), end: startOfWindow(job, index + 1), partial: false };
}

/** As many as one change may close, and not beyond a second one with samples; the others follow at once. */
function closing(spans: WindowSpan[], { windows }: DigestState, endsAt: Date | null): Closing {
  const samplesOf = ({ index }: WindowSpan) =>
    windows.find((window) => window.index === index)?.samples ?? [];
  const sampled = spans.filter((span) => samplesOf(span).length > 0);
  const until = sampled[1]?.index ?? Infinity;
  const now = spans.filter(({ index }) => index < until).slice(0, rules.windowsAtOnce);
  const asked = now.find((span) => samplesOf(span).length > 0);
  return {
    spans: now,
    samples: asked ? samplesOf(asked) : [],
    last: endsAt !== null && now.length === spans.length,
    endsAt,
  };
}
