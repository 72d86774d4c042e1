import type { Capture, CaptureRequest, StreamProbe } from '../records/capture.ts';
import type { CoreDeps } from '../dependencies.ts';
import { RateLimitedError, StreamFetchError, WatchpostError } from '../errors.ts';

export type ReachDeps = Pick<CoreDeps, 'streams' | 'turns' | 'limits'>;

/**
 * Calls `StreamCapturer.probe` when it is the caller's turn, within the time for a capture. Throws `StreamFetchError` if the stream is too
 * slow, and `RateLimitedError` if there was no turn in time.
 */
export function probeStream(url: string, caller: string, deps: ReachDeps): Promise<StreamProbe> {
  return inTurn(caller, deps, () =>
    inTime(deps, 'Failed to fetch stream', (signal) => deps.streams.probe(url, signal)),
  );
}

/** `StreamCapturer.capture`, likewise. */
export function captureStream(request: CaptureRequest, caller: string, deps: ReachDeps): Promise<Capture> {
  const message =
    request.mode === 'frames'
      ? 'Failed to capture frame from stream'
      : 'Failed to capture video clip from stream';
  return inTurn(caller, deps, () => inTime(deps, message, (signal) => deps.streams.capture(request, signal)));
}

/** Seconds after which a slow stream has let others have a turn, most likely. */
const busyRetrySeconds = 5;

async function inTurn<Found>(
  caller: string,
  { turns }: ReachDeps,
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
  { limits }: ReachDeps,
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
