import type { ClipRequest, ClipResult } from '../records/clip.ts';
import type { Capture, CaptureRequest, FollowRequest, StreamProbe } from '../records/capture.ts';

/**
 * Reader of live streams; no other dependency reads their bytes. Throws `InvalidUrlError`, `NotLiveError` (also if the
 * stream signals its end) and `StreamFetchError`. Has its own limits of bytes and time; `signal` aborts earlier.
 */
export interface StreamCapturer {
  /** Checks for a caller that the stream exists and is live. */
  probe(url: string, signal: AbortSignal, caller: string): Promise<StreamProbe>;
  capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture>;
  /**
   * Follows a stream between two captures: calls `onFrame` with the thumbnails of new key frames. Returns when the
   * stream cannot be followed any more. Throws like `capture`, and the abort reason. Absent on hosts that only capture.
   */
  follow?(
    request: FollowRequest,
    onFrame: (thumbnail: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Reads a part of a stream around a capture, as fragmented MP4 without audio. Throws like `capture`. Absent on hosts
   * that keep no stream.
   */
  clip?(request: ClipRequest, signal: AbortSignal): Promise<ClipResult>;
}
