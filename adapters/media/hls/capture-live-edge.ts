import type { CaptureRequest } from '../../../core/records/capture.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { awaitKeyFrame, isTooShort, type KeyFrameWaitDeps } from './await-key-frame.ts';
import { captureSegments, type SegmentsCapture, NoKeyFrameError } from './capture-segments.ts';
import { chooseSegments, markGap } from './segments/choose-segments.ts';
import { SegmentMissingError } from './segments/fetch-segments.ts';
import type { MediaPlaylist } from './playlist/playlist.ts';

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
