import { StreamError } from '../../../../core/errors.ts';
import { StatusError } from '../../web/fetch-failure.ts';
import { fetchSegments, type SegmentFetcher } from '../segments/fetch-segments.ts';
import type { Segment, MediaPlaylist } from '../playlist/playlist.ts';
import { readSegment, type ReadSegment } from './read-segment.ts';
import { scanRequests, type ScanBudget } from './scan-budget.ts';
import type { FfmpegRunner } from '../../ffmpeg/run-ffmpeg.ts';
import { decodeSegments, readFrame } from './scan-decode.ts';
import { findSegmentAt } from './scan-timeline.ts';

/**
 * Fetches segments, in this order, and finds their key frames. Leaves out what is gone, cannot be decrypted, or exceeds
 * the budget. `readBefore` segments are not fetched. Several take a share of the time, so that those that stall leave
 * some to decode the others; a single one may take all of it. Throws the abort reason.
 */
export async function readSegments(
  fetcher: SegmentFetcher,
  segments: readonly Segment[],
  readBefore: readonly ReadSegment[],
  budget: ScanBudget,
  signal: AbortSignal,
): Promise<ReadSegment[]> {
  const read: ReadSegment[] = [];
  const left = [...segments];
  const work = async (bounded: AbortSignal): Promise<void> => {
    for (let segment = left.shift(); segment !== undefined; segment = left.shift()) {
      const { sequence } = segment;
      const earlier = readBefore.find((each) => each.segment.sequence === sequence);
      const result = earlier ?? (await tryRead(fetcher, segment, budget, bounded));
      if (result !== null && result.kind !== 'unreadable') read.push(result);
    }
  };
  await budget
    .within(
      (bounded) => Promise.all(Array.from({ length: scanRequests }, async () => work(bounded))),
      signal,
      segments.length > 1 ? severalShare : 1,
    )
    .catch(() => signal.throwIfAborted());
  return read;
}

/** Share of the time that is left for several segments. */
const severalShare = 0.7;

/** Returns null if the segment cannot be had. Throws once the time is over. */
async function tryRead(
  fetcher: SegmentFetcher,
  segment: Segment,
  budget: ScanBudget,
  signal: AbortSignal,
): Promise<ReadSegment | null> {
  const { maxBytes, release } = budget.reserve();
  if (maxBytes === 0) return null;
  let received = 0;
  try {
    const parts: Uint8Array[] = [];
    const onBytes = (bytes: number): void => void (received += bytes);
    // A request may take its part of the bytes (`fetchSegments`).
    const limited = { ...fetcher, captureBytes: maxBytes * 2, onBytes };
    for await (const part of fetchSegments(limited, [segment], signal)) parts.push(part);
    const bytes = parts.at(-1) ?? new Uint8Array();
    release(received);
    return readSegment(segment, bytes, segment.initialization === null ? null : (parts[0] ?? null));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StreamError)) throw error;
    if (error.cause instanceof StatusError) release(received);
    return null;
  }
}

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
  const [segmentRead] = await readSegments(deps.fetcher, [segment], read, deps.budget, signal);
  const away = ({ seconds }: { seconds: number }): number =>
    Math.abs(seconds * 1000 + (startsMs[index] ?? 0) - atMs);
  const nearest = <Time extends { seconds: number }>(times: readonly Time[]): Time | undefined =>
    times.toSorted((one, other) => away(one) - away(other)).find((time) => away(time) <= maxAwayMs);
  if (segmentRead?.kind === 'extracts') {
    const extract = nearest(segmentRead.extracts)?.bytes;
    return extract ? readFrame(deps, { frame: null, extract }, signal) : null;
  }
  const { frames } = await decodeSegments(deps, { segments: segmentRead ? [segmentRead] : [] }, signal);
  return nearest(frames)?.frame ?? null;
}
