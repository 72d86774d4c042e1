import type { FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { decodeSegments, type DecodedKeyFrame } from './scan-decode.ts';
import type { SegmentFetcher } from './fetch-segments.ts';
import type { MediaPlaylist } from './playlist.ts';
import type { ReadSegment } from './read-segment.ts';
import type { ScanBudget } from './scan-budget.ts';
import { readSegments } from './scan-segments.ts';
import { findSegmentAt } from './scan-timeline.ts';

/** Rendition that is judged, on the clock of the captures, with the segments of it that the capture fetched. */
export type JudgedRendition = {
  playlist: MediaPlaylist;
  startsMs: readonly number[];
  read: readonly ReadSegment[];
};

export type ScanPicturesDeps = {
  fetcher: SegmentFetcher;
  ffmpeg: FfmpegRunner;
  caller: string | undefined;
  budget: ScanBudget;
};

/** A key frame that is further away may show something else. */
const maxAwayMs = 1000;

/**
 * Returns the picture of a moment from the rendition that is judged: its key frame nearest to it. Returns null if that rendition does not have the moment, or
 * not within the budget. Throws the abort reason.
 */
export async function readJudgedPicture(
  deps: ScanPicturesDeps,
  { playlist, startsMs, read }: JudgedRendition,
  atMs: number,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const index = findSegmentAt(playlist, startsMs, atMs);
  const segment = playlist.segments[index];
  if (segment === undefined) return null;
  const [found] = await readSegments(deps.fetcher, [segment], read, deps.budget, signal);
  const nearest = found && keepNearest(found, (atMs - (startsMs[index] ?? 0)) / 1000);
  if (!nearest) return null;
  const { frames } = await decodeSegments(deps, [nearest.segment], signal);
  return nearest.pick(frames)?.frame ?? null;
}

/** Reduces a segment to what has to be decoded for a time, in seconds from its start. */
function keepNearest(
  found: ReadSegment,
  wantedSeconds: number,
): { segment: ReadSegment; pick: (frames: DecodedKeyFrame[]) => DecodedKeyFrame | undefined } | null {
  const away = (seconds: number): number => Math.abs(seconds - wantedSeconds);
  const best = found.seconds.toSorted((a, b) => away(a) - away(b))[0];
  if (best === undefined || away(best) * 1000 > maxAwayMs) return null;
  const pick = (frames: DecodedKeyFrame[]): DecodedKeyFrame | undefined =>
    frames
      .toSorted((a, b) => away(a.seconds) - away(b.seconds))
      .find(({ seconds }) => away(seconds) * 1000 <= maxAwayMs);
  if (found.kind !== 'extracts') return { segment: found, pick };
  const index = found.seconds.indexOf(best);
  return { segment: { ...found, seconds: [best], extracts: found.extracts.slice(index, index + 1) }, pick };
}
