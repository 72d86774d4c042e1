import { rules } from '../rules.ts';
import type { TickOutcome } from '../tick/tick-outcome.ts';
import { earlier } from '../schedule.ts';
import type { DigestJob } from '../records/job.ts';
import type { DigestState } from '../records/digest-state.ts';
import type { ClosureResult, WindowClosure, WindowSpan } from '../records/window-closure.ts';
import { windowStart, countElapsedWindows, addCapture } from './window.ts';

/** Returns the result without a retry: the windows are closed without the missed summary. */
export function finalizeClosure({ result, ...rest }: ClosureResult): ClosureResult {
  return result.kind === 'missed'
    ? { ...rest, result: { kind: 'none', why: `${result.failure.message}.` } }
    : { ...rest, result };
}

/** Plans the windows that a tick closes: elapsed ones, and at the end of the job the open one. */
export function planTickClosure(job: DigestJob, outcome: TickOutcome, now: Date): WindowClosure | undefined {
  const digest = addCapture(job, outcome, now);
  if (digest.stream_ended_at !== null) return planFinalClosure(job, digest, new Date(digest.stream_ended_at));
  if (outcome.kind === 'ended') return planFinalClosure(job, digest, now);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  if (deadline !== undefined && now >= deadline) return planFinalClosure(job, digest, deadline);
  const spans = spansOver(job, digest, now);
  return spans.length === 0 ? undefined : closing(spans, digest, null);
}

/** Plans the windows that remain when a job ends, up to its deadline. */
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

/** Limits the closure to what one change may close, and to one window with samples. The others follow immediately. */
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
