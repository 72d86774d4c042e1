import type { MediaPlaylist, Segment } from '../playlist/playlist.ts';

/** Segment whose start is known on the clock of the captures. */
export type TimeAnchor = { index: number; startMs: number };

/**
 * Maximum step of PROGRAM-DATE-TIME at a discontinuity that counts as time without video. A larger one is another
 * clock.
 */
const maxBreakMs = 10 * 60_000;

/**
 * Returns the start of each segment on the clock of the captures, from one of them. Durations decide, because a clock
 * may jump. Only at a discontinuity does PROGRAM-DATE-TIME show for how long there was no video.
 */
export function segmentStarts({ segments }: MediaPlaylist, { index, startMs }: TimeAnchor): number[] {
  const starts = segments.map(() => startMs);
  for (let other = index - 1; other >= 0; other -= 1)
    starts[other] = (starts[other + 1] ?? startMs) - stepMs(segments[other], segments[other + 1]);
  for (let other = index + 1; other < segments.length; other += 1)
    starts[other] = (starts[other - 1] ?? startMs) + stepMs(segments[other - 1], segments[other]);
  return starts;
}

/** Time from the start of a segment to that of the next one, in milliseconds. */
function stepMs(segment: Segment | undefined, next: Segment | undefined): number {
  const durationMs = (segment?.durationSeconds ?? 0) * 1000;
  if (!next?.discontinuity || !next.startsAt || !segment?.startsAt) return durationMs;
  const clockMs = next.startsAt.getTime() - segment.startsAt.getTime();
  return clockMs > durationMs && clockMs <= durationMs + maxBreakMs ? clockMs : durationMs;
}

/**
 * Finds a segment of another rendition with its start on the clock of the captures: by PROGRAM-DATE-TIME, else by the
 * media sequence number if durations agree, else at the live edge.
 */
export function alignRendition(
  judged: MediaPlaylist,
  startsMs: readonly number[],
  other: MediaPlaylist,
): TimeAnchor {
  const newest = judged.segments.at(-1);
  const newestMs = startsMs.at(-1) ?? 0;
  const last = other.segments.length - 1;
  const otherNewest = other.segments[last];
  if (newest?.startsAt && otherNewest?.startsAt)
    return { index: last, startMs: newestMs + otherNewest.startsAt.getTime() - newest.startsAt.getTime() };
  const same = other.segments.findIndex(
    (segment) =>
      segment.sequence === newest?.sequence &&
      Math.abs(segment.durationSeconds - newest.durationSeconds) < durationToleranceSeconds,
  );
  if (same >= 0) return { index: same, startMs: newestMs };
  const endMs = newestMs + (newest?.durationSeconds ?? 0) * 1000;
  return { index: last, startMs: endMs - (otherNewest?.durationSeconds ?? 0) * 1000 };
}

const durationToleranceSeconds = 0.1;

/**
 * Returns the index of the segment that a time falls into; -1 without one. Without PROGRAM-DATE-TIME times before a
 * discontinuity cannot be matched between renditions.
 */
export function findSegmentAt(
  { segments }: MediaPlaylist,
  startsMs: readonly number[],
  atMs: number,
): number {
  const index = startsMs.findLastIndex((startMs) => startMs <= atMs + toleranceMs);
  const segment = segments[index];
  if (segment === undefined || segment.gap) return -1;
  if (atMs > (startsMs[index] ?? 0) + segment.durationSeconds * 1000 + toleranceMs) return -1;
  const isMatched =
    segment.startsAt !== null || !segments.slice(index + 1).some(({ discontinuity }) => discontinuity);
  return isMatched ? index : -1;
}

const toleranceMs = 100;
