import { rules } from '../rules.ts';
import type { TickOutcome } from '../tick/tick-outcome.ts';
import { earlier } from '../schedule.ts';
import type { DigestJob, Failure } from '../records/job.ts';
import type { Summary } from '../records/vision.ts';
import type { DigestState, StoredSample } from '../records/digest-state.ts';
import { windowStart, countElapsedWindows, addCapture } from './window.ts';

/** `partial`: the job ends before the window does. */
export type WindowSpan = { index: number; start: Date; end: Date; partial: boolean };

/** Windows to close, oldest first. At most one of them has samples, so that the model is asked once. */
export type WindowClosure = {
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
export type ClosureResult = { closing: WindowClosure; result: SummaryResult; gridKey: string | null };

/** The last word where nobody waits for another try: the windows are closed without the summary that was missed. */
export function finalizeClosure({ result, ...rest }: ClosureResult): ClosureResult {
  return result.kind === 'missed'
    ? { ...rest, result: { kind: 'none', why: `${result.failure.message}.` } }
    : { ...rest, result };
}

/** The windows that a tick closes: those that are over, and with the end of the job the open one too. */
export function planTickClosure(job: DigestJob, outcome: TickOutcome, now: Date): WindowClosure | undefined {
  const digest = addCapture(job, outcome, now);
  if (digest.stream_ended_at !== null) return planFinalClosure(job, digest, new Date(digest.stream_ended_at));
  if (outcome.kind === 'ended') return planFinalClosure(job, digest, now);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  if (deadline !== undefined && now >= deadline) return planFinalClosure(job, digest, deadline);
  const spans = spansOver(job, digest, now);
  return spans.length === 0 ? undefined : closing(spans, digest, null);
}

/** The windows that are left when a job ends, up to its deadline. */
export function planFinalClosure(job: DigestJob, digest: DigestState, endedAt: Date): WindowClosure {
  const end = job.deadline === null ? endedAt : earlier(endedAt, new Date(job.deadline));
  const spans = spansOver(job, digest, end);
  const open = computeSpan(job, digest.summarized + spans.length + 1);
  const hasContent = open.start < end || digest.windows.some(({ index }) => index === open.index);
  const all = hasContent ? [...spans, { ...open, end, partial: true }] : spans;
  return closing(all, digest, end);
}

function spansOver(job: DigestJob, { summarized }: DigestState, at: Date): WindowSpan[] {
  const over = Math.max(0, countElapsedWindows(job, at) - summarized);
  return Array.from({ length: over }, (_, offset) => computeSpan(job, summarized + 1 + offset));
}

function computeSpan(job: DigestJob, index: number): WindowSpan {
  return { index, start: windowStart(job, index), end: windowStart(job, index + 1), partial: false };
}

/** As many as one change may close, and not beyond a second one with samples; the others follow at once. */
function closing(spans: WindowSpan[], { windows }: DigestState, endsAt: Date | null): WindowClosure {
  const selectSamples = ({ index }: WindowSpan) =>
    windows.find((window) => window.index === index)?.samples ?? [];
  const sampled = spans.filter((span) => selectSamples(span).length > 0);
  const until = sampled[1]?.index ?? Infinity;
  const now = spans.filter(({ index }) => index < until).slice(0, rules.maxWindowsPerCommit);
  const asked = now.find((span) => selectSamples(span).length > 0);
  return {
    spans: now,
    samples: asked ? selectSamples(asked) : [],
    last: endsAt !== null && now.length === spans.length,
    endsAt,
  };
}
