import type { Capture, CaptureRequest, StreamProbe } from '../capture.ts';
import type { Collaborators } from '../collaborators.ts';
import { RateLimitedError, StreamFetchError, WatchpostError } from '../errors.ts';

export type ReachNeeds = Pick<Collaborators, 'streams' | 'turns' | 'limits'>;

/**
 * Calls `StreamCapturer.probe` when it is the caller's turn, within the time for a capture. Throws `StreamFetchError` if the stream is too
 * slow, and `RateLimitedError` if there was no turn in time.
 */
export function probeStream(url: string, caller: string, c: ReachNeeds): Promise<StreamProbe> {
  return inTurn(caller, c, () =>
    inTime(c, 'Failed to fetch stream', (signal) => c.streams.probe(url, signal)),
  );
}

/** `StreamCapturer.capture`, likewise. */
export function captureStream(request: CaptureRequest, caller: string, c: ReachNeeds): Promise<Capture> {
  const message =
    request.mode === 'frames'
      ? 'Failed to capture frame from stream'
      : 'Failed to capture video clip from stream';
  return inTurn(caller, c, () => inTime(c, message, (signal) => c.streams.capture(request, signal)));
}

/** Seconds after which a slow stream has let others have a turn, most likely. */
const busyRetrySeconds = 5;

async function inTurn<Found>(
  caller: string,
  { turns }: ReachNeeds,
  reach: () => Promise<Found>,
): Promise<Found> {
  const turn = await turns.take(caller);
  if (turn === undefined)
    throw new RateLimitedError(
      `The service fetches as many streams as it can: try again in ${busyRetrySeconds} s.`,
      busyRetrySeconds,
    );
  try {
    return await reach();
  } finally {
    turn.end();
  }
}

async function inTime<Found>(
  { limits }: ReachNeeds,
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
