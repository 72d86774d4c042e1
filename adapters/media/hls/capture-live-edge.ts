import type { CaptureRequest, InputMode } from '../../../core/records/capture.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { awaitKeyFrame, isTooShort, type KeyFrameWaitDeps } from './await-key-frame.ts';
import { captureSegments, type SegmentsCapture, NoKeyFrameError } from './capture-segments.ts';
import { SegmentMissingError } from './segments/fetch-segments.ts';
import type { MediaPlaylist, Segment } from './playlist/playlist.ts';

/**
 * Maximum segments added to reach a key frame. A GOP is rarely longer than 10 s, and a segment rarely shorter than
 * 2 s.
 */
const maxOlderSegments = 5;

/** Maximum listed but missing segments per capture; one more is a failure. */
const maxMissingSegments = 2;

/** Capture, and the number of older segments that it needed to reach a key frame. */
export type LiveEdgeCapture = SegmentsCapture & { olderSegments: number };

/**
 * Captures the newest segments of a playlist, with `olderSegments` before them. Falls back to the previous segment
 * if the newest one is missing. Throws `StreamFetchError` and the errors of ffmpeg.
 */
export async function captureLiveEdge(
  deps: KeyFrameWaitDeps,
  playlist: MediaPlaylist,
  olderSegments: number,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<LiveEdgeCapture> {
  let left = playlist;
  for (let missing = 0; ; missing += 1) {
    try {
      return await captureKeyFrame(deps, left, olderSegments, request, signal);
    } catch (error) {
      if (!(error instanceof SegmentMissingError) || missing === maxMissingSegments) throw error;
      left = markGap(left, error.sequence);
      if (left.segments.every(({ gap }) => gap)) throw error;
    }
  }
}

/** Retries once with older segments if the newest ones have no key frame, then with those that appear. */
async function captureKeyFrame(
  deps: KeyFrameWaitDeps,
  playlist: MediaPlaylist,
  olderSegments: number,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<LiveEdgeCapture> {
  const segments = chooseSegments(playlist, { ...request, olderSegments });
  if (segments.length > 0 && isTooShort(playlist, request))
    return { ...(await awaitKeyFrame(deps, playlist, request, undefined, signal)), olderSegments };
  try {
    return { ...(await captureSegments(deps, playlist, segments, request, signal)), olderSegments };
  } catch (error) {
    const more = chooseSegments(playlist, { ...request, olderSegments: maxOlderSegments });
    if (!(error instanceof NoFrameDecodedError)) throw error;
    if (more.length <= segments.length) return { ...(await later(error)), olderSegments };
    const captured = await captureSegments(deps, playlist, more, request, signal).catch(later);
    return { ...captured, olderSegments: maxOlderSegments };
  }

  async function later(error: unknown): Promise<SegmentsCapture> {
    const isDamaged = error instanceof NoFrameDecodedError && error.isDamaged;
    if (!isDamaged && !(error instanceof NoKeyFrameError)) throw error;
    const awaited = awaitKeyFrame(deps, playlist, request, segments.at(-1)?.sequence, signal);
    return awaited.catch((lateError: unknown) => {
      throw isDamaged && lateError instanceof NoKeyFrameError ? error : lateError;
    });
  }
}

export type SegmentSelection = {
  mode: InputMode;
  clipSeconds: number;
  /** Number of additional older segments, for streams whose segments do not all begin with a key frame. */
  olderSegments: number;
};

/**
 * Selects the newest segments for a capture, oldest first: one for a frame, `clipSeconds` for a clip. Stops at a
 * discontinuity, a gap or another media initialization section. Returns an empty list if no segment is usable.
 */
export function chooseSegments(playlist: MediaPlaylist, wanted: SegmentSelection): Segment[] {
  const neededSeconds = wanted.mode === 'frames' ? 0 : wanted.clipSeconds;
  const chosen: Segment[] = [];
  let coveredSeconds = 0;
  let olderSegments = 0;
  for (const segment of newestContiguous(playlist.segments)) {
    const covered = chosen.length > 0 && coveredSeconds >= neededSeconds;
    if (covered && olderSegments >= wanted.olderSegments) break;
    if (covered) olderSegments += 1;
    chosen.unshift(segment);
    coveredSeconds += segment.durationSeconds;
  }
  return chosen;
}

/** Returns the playlist with the segment marked as a gap: it is listed, but its server does not have it. */
function markGap(playlist: MediaPlaylist, sequence: bigint): MediaPlaylist {
  const segments = playlist.segments.map((segment) =>
    segment.sequence === sequence ? { ...segment, gap: true } : segment,
  );
  return { ...playlist, segments };
}

function newestContiguous(segments: Segment[]): Segment[] {
  const newest = segments.findLastIndex(({ gap }) => !gap);
  const contiguous: Segment[] = [];
  for (let index = newest; index >= 0; index -= 1) {
    const segment = segments[index];
    if (segment === undefined || segment.gap || !sameInitialization(segment, contiguous.at(-1))) break;
    contiguous.push(segment);
    if (segment.discontinuity) break;
  }
  return contiguous;
}

function sameInitialization(segment: Segment, next: Segment | undefined): boolean {
  if (next === undefined) return true;
  return (
    segment.initialization?.url === next.initialization?.url &&
    segment.initialization?.byteRange?.offset === next.initialization?.byteRange?.offset
  );
}
