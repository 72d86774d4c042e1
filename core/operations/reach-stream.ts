import type { Capture, CaptureRequest, StreamProbe } from '../capture.ts';
import type { Collaborators } from '../collaborators.ts';
import { StreamFetchError, WatchpostError } from '../errors.ts';

type Needs = Pick<Collaborators, 'streams' | 'limits'>;

/** `StreamCapturer.probe` within the time for a capture. A stream that is too slow is a `StreamFetchError`. */
export function probeStream(url: string, c: Needs): Promise<StreamProbe> {
  return inTime(c, 'Failed to fetch stream', (signal) => c.streams.probe(url, signal));
}

/** `StreamCapturer.capture`, likewise. */
export function captureStream(request: CaptureRequest, c: Needs): Promise<Capture> {
  const message =
    request.mode === 'frames'
      ? 'Failed to capture frame from stream'
      : 'Failed to capture video clip from stream';
  return inTime(c, message, (signal) => c.streams.capture(request, signal));
}

async function inTime<Found>(
  { limits }: Needs,
  message: string,
  reach: (signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
  const signal = AbortSignal.timeout(limits.captureTimeoutSeconds * 1000);
  try {
    return await reach(signal);
  } catch (error) {
    if (!signal.aborted || error instanceof WatchpostError) throw error;
    throw new StreamFetchError(
      `The stream did not answer within ${limits.captureTimeoutSeconds} s. Check that it plays in a video player, then try again.`,
      message,
      { cause: error },
    );
  }
}
