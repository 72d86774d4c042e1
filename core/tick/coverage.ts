import type { Gap, GapReason, Job, TickState } from '../records/job.ts';
import { intervalSeconds } from './next-tick.ts';
import { divideSight } from './count-sight.ts';
import type { SightQuestion } from './count-sight.ts';
import { rules } from '../rules.ts';
import { ageSeconds, earlier, later } from '../time.ts';

/**
 * Records that the stream was observed at `at`: closes the gap since the last observation. If the clock was set back during the tick, `at` may be before
 * that one, which stays: a gap is counted once.
 */
export function recordWatched(sight: TickState, everySeconds: number, at: Date): TickState {
  const gap = openGap(sight, everySeconds, at);
  const watchedAt = sight.last_watched_at === null ? at : later(at, new Date(sight.last_watched_at));
  return {
    ...(gap ? withGap(sight, gap) : sight),
    last_watched_at: watchedAt.toISOString(),
    gap_reason: null,
  };
}

/** Names the model as the reason of a gap that began while a tick waited for it, from `askedAt` to `now`. */
export function recordModelWait(job: Job, sight: TickState, askedAt: Date, now: Date): TickState {
  const wasOpen = openGap(sight, intervalSeconds(job), untilSightEnds(job, askedAt));
  const isOpen = openGap(sight, intervalSeconds(job), untilSightEnds(job, now));
  return isOpen && !wasOpen ? { ...sight, gap_reason: 'model' } : sight;
}

/**
 * Adds the gap of a check that an overload of the service delayed by an interval or more: it begins when the check was due. A gap with another reason
 * contains it.
 */
export function recordDelay(sight: TickState, everySeconds: number, at: Date): TickState {
  if (sight.gap_reason !== null) return sight;
  const gap = findGap(sight, { intervalSeconds: everySeconds, isStretched: true }, at);
  // Without an overload that is long enough, the check decides about the time before it.
  if (gap === undefined || gap.from === sight.last_watched_at) return sight;
  return { ...withGap(sight, gap), last_watched_at: at.toISOString() };
}

/** Records a tick without an observation; the first reason of a gap names it. */
export function recordUnwatched(sight: TickState, reason: GapReason): TickState {
  return { ...sight, gap_reason: sight.gap_reason ?? reason };
}

/** Returns the seconds for which a job was to watch until `now`: from its start to its end, its deadline or the end of its stream, the earliest of them. */
export function watchSeconds(job: Job, now: Date): number {
  return job.started_at === null ? 0 : ageSeconds(job.started_at, untilSightEnds(job, now));
}

/** A job sees nothing after its deadline and the end of its stream, also while it waits for the model. */
function untilSightEnds(job: Job, now: Date): Date {
  const streamEnd = job.policy === 'digest' ? job.digest.end?.at : null;
  return [job.ended_at, job.deadline, streamEnd]
    .flatMap((end) => (end ? [new Date(end)] : []))
    .reduce(earlier, now);
}

/** Computes the coverage of the `watchSeconds` of a job, with the newest gaps. Times in seconds, ratio 0 to 1. */
export function computeCoverage(job: Job, now: Date) {
  if (job.started_at === null) return { ratio: 0, watched_seconds: 0, gap_seconds: 0, gaps: [] };
  const gap = openGap(job.sight, intervalSeconds(job), untilSightEnds(job, now));
  const sight = gap ? withGap(job.sight, gap) : job.sight;
  const elapsedSeconds = watchSeconds(job, now);
  const watchedSeconds = Math.max(0, elapsedSeconds - sight.gap_seconds);
  return {
    ratio: elapsedSeconds === 0 ? 1 : round(watchedSeconds / elapsedSeconds),
    watched_seconds: round(watchedSeconds),
    gap_seconds: round(sight.gap_seconds),
    gaps: sight.gaps,
  };
}

/** Returns the gaps known at `knownAt` that overlap `span`, cut to it. Only the newest gaps of the job are available. */
export function gapsWithin(
  job: Job,
  sight: TickState,
  span: { start: Date; end: Date },
  knownAt: Date,
): Gap[] {
  const gap = openGap(sight, intervalSeconds(job), knownAt);
  return (gap ? [...sight.gaps, gap] : sight.gaps).flatMap(({ from, to, reason }) => {
    const start = later(new Date(from), span.start);
    const end = earlier(new Date(to), span.end);
    return start < end ? [{ from: start.toISOString(), to: end.toISOString(), reason }] : [];
  });
}

/** Returns the open gap at `now`: one with a reason, or a silence that late ticks do not explain (downtime of the service). */
function openGap(sight: TickState, everySeconds: number, now: Date): Gap | undefined {
  return findGap(sight, { intervalSeconds: everySeconds, isStretched: false }, now);
}

/** Returns the gap since the last observation, by the rule of all runs. */
function findGap(
  { last_watched_at: last, gap_reason: inGap }: TickState,
  pace: Pick<SightQuestion, 'intervalSeconds' | 'isStretched'>,
  now: Date,
): Gap | undefined {
  if (last === null || new Date(last) >= now) return undefined;
  const active = [{ from: new Date(last), to: now }];
  const spans = divideSight({ active, inGap, sight: 'seen', ...pace });
  return spans.flatMap(({ from, to, gap: reason }) =>
    reason === null ? [] : [{ from: from.toISOString(), to: to.toISOString(), reason }],
  )[0];
}

function withGap(sight: TickState, gap: Gap): TickState {
  return {
    ...sight,
    gap_seconds: round(sight.gap_seconds + ageSeconds(gap.from, new Date(gap.to))),
    gaps: [...sight.gaps, gap].slice(-rules.maxCoverageGaps),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
