import type { CaptureRequest } from '../../../core/records/capture.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { captureSegments, type SegmentCaptureDeps, type SegmentsCapture } from './capture-segments.ts';
import { chooseSegments, markGap } from './choose-segments.ts';
import { SegmentMissingError } from './fetch-segments.ts';
import type { MediaPlaylist } from './playlist.ts';

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
  deps: SegmentCaptureDeps,
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

/** Retries once with older segments if the newest ones have no key frame. */
async function captureKeyFrame(
  deps: SegmentCaptureDeps,
  playlist: MediaPlaylist,
  olderSegments: number,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<LiveEdgeCapture> {
  const segments = chooseSegments(playlist, { ...request, olderSegments });
  try {
    return { ...(await captureSegments(deps, playlist, segments, request, signal)), olderSegments };
  } catch (error) {
    const more = chooseSegments(playlist, { ...request, olderSegments: maxOlderSegments });
    if (!(error instanceof NoFrameDecodedError) || more.length <= segments.length) throw error;
    return {
      ...(await captureSegments(deps, playlist, more, request, signal)),
      olderSegments: maxOlderSegments,
    };
  }
}
