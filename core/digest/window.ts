import { rules } from '../rules.ts';
import { addSeconds, earlier, later } from '../schedule.ts';
import type { TickOutcome } from '../tick/tick-outcome.ts';
import type { DigestJob } from '../records/job.ts';
import { ageSeconds } from '../time.ts';
import { emptyWindow } from '../records/digest-state.ts';
import type { DigestState, DigestWindow, StoredSample } from '../records/digest-state.ts';

/** Windows lie end to end from the job's start; each has its start in it, and its end not. */

export function windowStart(job: DigestJob, index: number): Date {
  return addSeconds(findStart(job), (index - 1) * windowSeconds(job));
}

/** Returns the number of windows that have ended at `at`. */
export function countElapsedWindows(job: DigestJob, at: Date): number {
  return Math.floor(ageSeconds(findStart(job), at) / windowSeconds(job));
}

/** The state with this tick's picture in the window in which it was taken in: as a sample, or counted as left out. */
export function addCapture(job: DigestJob, outcome: TickOutcome, now: Date): DigestState {
  const { digest } = job;
  if (outcome.kind !== 'sampled' && outcome.kind !== 'skipped') return digest;
  const takenAt = earlier(new Date(outcome.captured.seen.seen_at), now);
  // A clock that was set back puts nothing into a window that is closed.
  const index = Math.max(countElapsedWindows(job, takenAt), digest.summarized) + 1;
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

/** Leaves out the sample whose neighbours are the closest to each other, so that what is kept stays evenly spread. */
function thinnedByOne(samples: StoredSample[]): StoredSample[] {
  const spans = samples.map((_, at) => {
    const [before, after] = [samples[at - 1], samples[at + 1]];
    return before && after ? byTime(after, before) : Infinity;
  });
  return samples.toSpliced(spans.indexOf(Math.min(...spans)), 1);
}

function windowSeconds(job: DigestJob): number {
  return job.config.window_minutes * 60;
}

function findStart(job: DigestJob): Date {
  return new Date(job.started_at ?? job.created_at);
}

/** Returns the time of the next window closure: the end of the window, or `now` if it has already ended. */
export function nextWindowEnd(job: DigestJob, { summarized }: DigestState, now: Date): Date {
  return later(windowStart(job, summarized + 2), now);
}
