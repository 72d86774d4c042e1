import type { Capture, CaptureRequest, StreamProbe } from '../records/capture.ts';

/**
 * The one collaborator that touches a stream's bytes. Throws `InvalidUrlError`, `NotLiveError` (also when a stream says
 * that it has ended) and `StreamFetchError`. Bounded in bytes and time by itself; `signal` ends it earlier.
 */
export interface StreamCapturer {
  /** Is the stream there, and live? */
  probe(url: string, signal: AbortSignal): Promise<StreamProbe>;
  capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture>;
}
