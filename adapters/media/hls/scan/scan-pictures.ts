import type { FfmpegRunner } from '../../ffmpeg/run-ffmpeg.ts';
import { decodeSegments, readFrame } from './scan-decode.ts';
import type { SegmentFetcher } from '../segments/fetch-segments.ts';
import type { MediaPlaylist } from '../playlist/playlist.ts';
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
 * Returns the picture of a moment from the rendition that is judged: its key frame nearest to it. Returns null if that
 * rendition does not have the moment, or not within the budget. Throws the abort reason.
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
  const away = ({ seconds }: { seconds: number }): number =>
    Math.abs(seconds * 1000 + (startsMs[index] ?? 0) - atMs);
  const nearest = <Time extends { seconds: number }>(times: readonly Time[]): Time | undefined =>
    times.toSorted((one, other) => away(one) - away(other)).find((time) => away(time) <= maxAwayMs);
  if (found?.kind === 'extracts') {
    const extract = nearest(found.extracts)?.bytes;
    return extract ? readFrame(deps, { frame: null, extract }, signal) : null;
  }
  const { frames } = await decodeSegments(deps, { segments: found ? [found] : [] }, signal);
  return nearest(frames)?.frame ?? null;
}
