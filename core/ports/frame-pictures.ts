import type { CaptureRequest, ScannedFrame } from '../records/capture.ts';
import type { StreamCapturer } from './stream-capturer.ts';

/** Reader of the pictures of frames that a scan found, while its capture is in memory. */
export interface FramePictures {
  /** Returns a frame for the model, as `Capture.frame`; `null` if the stream does not have it any more. */
  picture(
    frame: ScannedFrame,
    request: Pick<CaptureRequest, 'caller' | 'regions'>,
    signal: AbortSignal,
  ): Promise<Uint8Array | null>;
}

/** Reader of live streams that looks back. */
export type ScanningCapturer = StreamCapturer & FramePictures;
