import { rules } from '../../rules.ts';
import { recordOutcome } from '../job/record-outcome.ts';
import { streamLostEnding, readTimes, type JobOutcome } from '../job/outcome.ts';
import { earlier, addSeconds, later, ageSeconds } from '../../time.ts';
import type { JobOf } from '../../records/job.ts';
import type { DigestEnd, DigestState, DigestWindow, StoredSample } from './records.ts';
import type { ClosureResult, WindowClosure, WindowSpan } from '../../records/window-closure.ts';
import { emptyWindow } from './records.ts';

/** Returns the result without a retry: the windows are closed without the missed summary. */
export function finalizeClosure({ result, ...rest }: ClosureResult): ClosureResult {
  return result.kind === 'missed'
    ? { ...rest, result: { kind: 'none', why: `${result.failure.message}.` } }
    : { ...rest, result };
}

/** Returns the result of a closure whose windows the model is not asked about. */
export function closeUnasked(closing: WindowClosure): ClosureResult {
  return { closing, result: { kind: 'none', why: null }, gridKey: null };
}

/** Plans the windows that a tick closes: elapsed ones, and at the end of the job the open one. */
export function planTickClosure(
  job: JobOf<'digest'>,
  outcome: JobOutcome,
  now: Date,
): WindowClosure | undefined {
  const digest = addCapture(job, outcome, now);
  const end = digest.end ?? findEnd(job, outcome, now);
  if (end) return planFinalClosure(job, digest, end);
  const spans = spansOver(job, digest, now);
  return spans.length === 0 ? undefined : closing(spans, digest, null);
}

/**
 * Returns the end of the job if this tick ends its last window: the stream is lost or has ended, or the duration is
 * over.
 */
function findEnd(job: JobOf<'digest'>, outcome: JobOutcome, now: Date): DigestEnd | undefined {
  const endAt = now.toISOString();
  const lost = streamLostEnding(job, outcome, recordOutcome(job, outcome, now).sight, now);
  if (lost) return { at: endAt, reason: lost.reason, failure: lost.failure };
  if (outcome.kind === 'ended') return { at: endAt, reason: 'stream_ended' };
  const isOver = job.deadline !== null && now >= new Date(job.deadline);
  return isOver ? { at: endAt, reason: 'max_duration_reached' } : undefined;
}

/** Plans the windows that remain when a job ends, up to its deadline. */
export function planFinalClosure(job: JobOf<'digest'>, digest: DigestState, given: DigestEnd): WindowClosure {
  const end =
    job.deadline === null ? new Date(given.at) : earlier(new Date(given.at), new Date(job.deadline));
  const spans = spansOver(job, digest, end);
  const open = computeSpan(job, digest.summarized + spans.length + 1);
  const hasContent = open.start < end || digest.windows.some(({ index }) => index === open.index);
  const all = hasContent ? [...spans, { ...open, end, partial: true }] : spans;
  const { max_windows: maxWindows } = job.config;
  const hasAll = maxWindows !== null && (all.at(-1)?.index ?? digest.summarized) >= maxWindows;
  const reason = given.reason === 'max_duration_reached' && hasAll ? 'max_windows_reached' : given.reason;
  return closing(all, digest, { ...given, at: end.toISOString(), reason });
}

/** Ends after which the model is not asked: it failed, or the service did. */
const unasked: DigestEnd['reason'][] = ['vlm_error', 'internal_error'];

function spansOver(job: JobOf<'digest'>, { summarized }: DigestState, time: Date): WindowSpan[] {
  const over = Math.max(0, countElapsedWindows(job, time) - summarized);
  return Array.from({ length: over }, (_, offset) => computeSpan(job, summarized + 1 + offset));
}

function computeSpan(job: JobOf<'digest'>, index: number): WindowSpan {
  return { index, start: windowStart(job, index), end: windowStart(job, index + 1), partial: false };
}

/** Limits the closure to what one change may close, and to one window with samples. The others follow immediately. */
function closing(spans: WindowSpan[], { windows }: DigestState, end: DigestEnd | null): WindowClosure {
  const asks = end === null || !unasked.includes(end.reason);
  const selectSamples = ({ index }: WindowSpan) =>
    windows.find((window) => window.index === index)?.samples ?? [];
  const sampled = spans.filter((span) => asks && selectSamples(span).length > 0);
  const until = sampled[1]?.index ?? Infinity;
  const now = spans.filter(({ index }) => index < until).slice(0, rules.maxWindowsPerCommit);
  const asked = now.find((span) => sampled.includes(span));
  return {
    spans: now,
    samples: asked ? selectSamples(asked) : [],
    last: end !== null && now.length === spans.length,
    end,
  };
}

/**
 * Returns the start of a window. Windows follow each other from the start of the job; a window includes its start and
 * excludes its end.
 */
function windowStart(job: JobOf<'digest'>, index: number): Date {
  return addSeconds(findStart(job), (index - 1) * windowSeconds(job));
}

function countElapsedWindows(job: JobOf<'digest'>, time: Date): number {
  return Math.floor(ageSeconds(findStart(job), time) / windowSeconds(job));
}

/** Returns the number of windows up to the deadline, with a partial one at the end. */
function countWindows(job: JobOf<'digest'>): number {
  if (job.deadline === null) return Infinity;
  return Math.ceil(ageSeconds(findStart(job), new Date(job.deadline)) / windowSeconds(job));
}

/** Returns the state with the capture of a tick in its window: as a sample, or counted as skipped. */
export function addCapture(job: JobOf<'digest'>, outcome: JobOutcome, now: Date): DigestState {
  const { state: digest } = job;
  if (outcome.kind !== 'sampled' && outcome.kind !== 'skipped') return digest;
  const takenAt = readTimes(outcome, now).at;
  // After the clock was set back, a closed window gets no further capture. A picture of the very deadline belongs to
  // the window before.
  const elapsed = Math.min(countElapsedWindows(job, takenAt), countWindows(job) - 1);
  const index = Math.max(elapsed, digest.summarized) + 1;
  const before = digest.windows.find((window) => window.index === index) ?? emptyWindow(index);
  const after = outcome.kind === 'skipped' ? leftOut(before, outcome.why) : sampled(before, outcome.captured);
  const others = digest.windows.filter((window) => window.index !== index);
  return { ...digest, windows: [...others, after].toSorted((a, b) => a.index - b.index) };
}

function leftOut(window: DigestWindow, why: keyof DigestWindow['skipped']): DigestWindow {
  return { ...window, skipped: { ...window.skipped, [why]: window.skipped[why] + 1 } };
}

function sampled(window: DigestWindow, { frame_key, captured_at }: StoredSample): DigestWindow {
  const samples = [...window.samples, { frame_key, captured_at }].toSorted(byTime);
  return {
    ...window,
    frames_captured: window.frames_captured + 1,
    samples: samples.length > rules.maxSamplesPerWindow ? thinnedByOne(samples) : samples,
  };
}

function byTime(a: StoredSample, b: StoredSample): number {
  return Date.parse(a.captured_at) - Date.parse(b.captured_at);
}

/** Removes the sample whose neighbors are closest to each other, so that the rest remains evenly spread. */
function thinnedByOne(samples: StoredSample[]): StoredSample[] {
  const spans = samples.map((_, index) => {
    const [before, after] = [samples[index - 1], samples[index + 1]];
    return before && after ? byTime(after, before) : Infinity;
  });
  return samples.toSpliced(spans.indexOf(Math.min(...spans)), 1);
}

function windowSeconds(job: JobOf<'digest'>): number {
  return job.config.window_minutes * 60;
}

function findStart(job: JobOf<'digest'>): Date {
  return new Date(job.started_at ?? job.created_at);
}

/** Returns the time of the next window closure: the end of the window, or `now` if it has already ended. */
export function nextWindowEnd(job: JobOf<'digest'>, { summarized }: DigestState, now: Date): Date {
  return later(windowStart(job, summarized + 2), now);
}
