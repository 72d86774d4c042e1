import type { Capture, CaptureRequest, StreamProbe } from '../records/capture.ts';

/**
 * Reader of live streams; no other dependency reads their bytes. Throws `InvalidUrlError`, `NotLiveError` (also if the
 * stream signals its end) and `StreamFetchError`. Has its own limits of bytes and time; `signal` aborts earlier.
 */
export interface StreamCapturer {
  /** Checks that the stream exists and is live. */
  probe(url: string, signal: AbortSignal): Promise<StreamProbe>;
  capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture>;
}
