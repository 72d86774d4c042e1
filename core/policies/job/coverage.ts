import { withKind } from '../../records/job-kind.ts';
import type { Job, JobSight } from '../../records/job.ts';
import type { Gap, GapReason, SpanReason } from '../../records/sight.ts';
import { intervalSeconds } from './next-tick.ts';
import { countSight, type SightSpan } from '../../sight/count-sight.ts';
import { rules } from '../../rules.ts';
import { ageSeconds, earlier, later } from '../../time.ts';

type Gaps = Pick<JobSight, 'gap_seconds' | 'gaps'>;

/** Adds the gaps of the time since the last count. A gap that was open continues. */
export function addGaps(
  { in_gap: inGap, ...before }: Pick<JobSight, 'in_gap'> & Gaps,
  spans: SightSpan[],
): Gaps {
  let { gap_seconds: seconds, gaps } = before;
  for (const { from, to, gap: why } of spans) {
    if (why === null) continue;
    const reason = toGapReason(why);
    const gap = { from: from.toISOString(), to: to.toISOString(), reason };
    const last = gaps.at(-1);
    const continues = inGap !== null && last?.reason === reason && last.to === gap.from;
    gaps = continues ? [...gaps.slice(0, -1), { ...last, to: gap.to }] : [...gaps, gap];
    seconds += ageSeconds(from, to);
  }
  return { gap_seconds: round(seconds), gaps: gaps.slice(-rules.maxCoverageGaps) };
}

function toGapReason(reason: SpanReason): GapReason {
  if (reason === 'budget' || reason === 'overload') return 'service';
  return reason === 'frozen' || reason === 'black' ? 'stream' : reason;
}

/** Names the model as the reason of a gap that began while a tick waited for it, from `askedAt` to `now`. */
export function recordModelWait(job: Job, sight: JobSight, askedAt: Date, now: Date): JobSight {
  const isOpen = (time: Date) => listOpen(job, sight, time).some(({ gap }) => gap !== null);
  return !isOpen(untilSightEnds(job, askedAt)) && isOpen(untilSightEnds(job, now))
    ? { ...sight, in_gap: sight.in_gap ?? 'model' }
    : sight;
}

/**
 * Returns the seconds for which a job was to watch until `now`: from its start to its end, its deadline or the end of
 * its stream, the earliest of them.
 */
export function watchSeconds(job: Job, now: Date): number {
  return job.started_at === null ? 0 : ageSeconds(job.started_at, untilSightEnds(job, now));
}

/**
 * A job sees nothing after its deadline and the end of its stream, also while it waits for the model. One that has
 * ended keeps its times if the clock is set back.
 */
function untilSightEnds(job: Job, now: Date): Date {
  const streamEnd = withKind(job, ({ state }, kind) => kind.sightEnd(state));
  return [job.deadline, streamEnd]
    .flatMap((end) => (end ? [new Date(end)] : []))
    .reduce(earlier, job.ended_at === null ? now : new Date(job.ended_at));
}

/** Computes the coverage of the `watchSeconds` of a job, with the newest gaps. Times in seconds, ratio 0 to 1. */
export function computeCoverage(job: Job, now: Date) {
  if (job.started_at === null) return { ratio: 0, watched_seconds: 0, gap_seconds: 0, gaps: [] };
  // A job that has ended without one picture has watched nothing, however short it was.
  const isBlind = job.ended_at !== null && job.sight.last_frame === null;
  const sight = isBlind ? { ...job.sight, in_gap: job.sight.in_gap ?? 'service' } : job.sight;
  const counted = addGaps(sight, listOpen(job, sight, untilSightEnds(job, now)));
  const elapsedSeconds = watchSeconds(job, now);
  const watchedSeconds = Math.max(0, elapsedSeconds - counted.gap_seconds);
  return {
    ratio: elapsedSeconds === 0 ? 1 : round(watchedSeconds / elapsedSeconds),
    watched_seconds: round(watchedSeconds),
    ...counted,
  };
}

/**
 * Returns the gaps known at `knownAt` that overlap `span`, cut to it. Only the newest gaps of the job are available.
 */
export function gapsWithin(
  job: Job,
  sight: JobSight,
  span: { start: Date; end: Date },
  knownAt: Date,
): Gap[] {
  const isStretched = (job.next?.stretch ?? 1) > 1;
  return addGaps(sight, listOpen(job, sight, knownAt, isStretched)).gaps.flatMap(({ from, to, reason }) => {
    const start = later(new Date(from), span.start);
    const end = earlier(new Date(to), span.end);
    return start < end ? [{ from: start.toISOString(), to: end.toISOString(), reason }] : [];
  });
}

/** Returns the time that a tick at `time` would add if it saw the stream. */
function listOpen(job: Job, sight: JobSight, time: Date, isStretched = false): SightSpan[] {
  return countSight(sight, { seen: 'seen', at: time, intervalSeconds: intervalSeconds(job), isStretched })
    .spans;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
