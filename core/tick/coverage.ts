import type { Gap, GapReason, Job, TickState } from '../records/job.ts';
import { intervalSeconds } from './next-tick.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, earlier, later } from '../time.ts';

/** Records that the stream was observed at `now`: closes the gap since the last observation. */
export function recordWatched(watch: TickState, everySeconds: number, now: Date): TickState {
  const gap = openGap(watch, everySeconds, now);
  return { ...(gap ? withGap(watch, gap) : watch), last_watched_at: now.toISOString(), gap_reason: null };
}

/**
 * Adds the gap of a check that an overload of the service delayed by an interval or more: it begins when the check was due. A gap with another reason
 * contains it.
 */
export function recordDelay(watch: TickState, everySeconds: number, now: Date): TickState {
  if (watch.last_watched_at === null || watch.gap_reason !== null) return watch;
  const dueAt = addSeconds(new Date(watch.last_watched_at), everySeconds);
  if (ageSeconds(dueAt, now) < everySeconds) return watch;
  const gap: Gap = { from: dueAt.toISOString(), to: now.toISOString(), reason: 'service' };
  return { ...withGap(watch, gap), last_watched_at: now.toISOString() };
}

/** Records a tick without an observation; the first reason of a gap names it. */
export function recordUnwatched(watch: TickState, reason: GapReason): TickState {
  return { ...watch, gap_reason: watch.gap_reason ?? reason };
}

/** Computes the coverage from the start of a job to `now` (or its end), with the newest gaps. Times in seconds, ratio 0 to 1. */
export function computeCoverage(job: Job, now: Date) {
  if (job.started_at === null) return { ratio: 0, watched_seconds: 0, gap_seconds: 0, gaps: [] };
  const until = job.ended_at === null ? now : new Date(job.ended_at);
  const gap = openGap(job.watch, intervalSeconds(job), until);
  const watch = gap ? withGap(job.watch, gap) : job.watch;
  const elapsedSeconds = ageSeconds(job.started_at, until);
  const watchedSeconds = Math.max(0, elapsedSeconds - watch.gap_seconds);
  return {
    ratio: elapsedSeconds === 0 ? 1 : round(watchedSeconds / elapsedSeconds),
    watched_seconds: round(watchedSeconds),
    gap_seconds: round(watch.gap_seconds),
    gaps: watch.gaps,
  };
}

/** Returns the gaps known at `now` that overlap `span`, cut to it. Only the newest gaps of the job are available. */
export function gapsWithin(job: Job, watch: TickState, span: { start: Date; end: Date }, now: Date): Gap[] {
  const gap = openGap(watch, intervalSeconds(job), now);
  return (gap ? [...watch.gaps, gap] : watch.gaps).flatMap(({ from, to, reason }) => {
    const start = later(new Date(from), span.start);
    const end = earlier(new Date(to), span.end);
    return start < end ? [{ from: start.toISOString(), to: end.toISOString(), reason }] : [];
  });
}

/** Returns the open gap at `now`: one with a reason, or a silence that late ticks do not explain (downtime of the service). */
function openGap(watch: TickState, everySeconds: number, now: Date): Gap | undefined {
  if (watch.last_watched_at === null) return undefined;
  const silentSeconds = ageSeconds(watch.last_watched_at, now);
  if (silentSeconds === 0) return undefined;
  const late = silentSeconds > rules.lateIntervals * everySeconds + rules.lateAllowanceSeconds;
  const reason = watch.gap_reason ?? (late ? 'service' : null);
  return reason === null ? undefined : { from: watch.last_watched_at, to: now.toISOString(), reason };
}

function withGap(watch: TickState, gap: Gap): TickState {
  return {
    ...watch,
    gap_seconds: round(watch.gap_seconds + ageSeconds(gap.from, new Date(gap.to))),
    gaps: [...watch.gaps, gap].slice(-rules.maxCoverageGaps),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
