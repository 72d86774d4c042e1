import type { Capture, CaptureRequest, InputMode, StreamProbe } from '../records/capture.ts';
import type { CoreDeps } from '../dependencies.ts';
import { createTimeLimit } from '../time-limit.ts';
import {
  MachineBusyError,
  RateLimitedError,
  ServiceOverloadedError,
  StreamFetchError,
  StreamWithoutClipsError,
  WatchpostError,
} from '../errors.ts';

/** Dependencies of stream access outside of jobs. */
export type ReachDeps = Pick<CoreDeps, 'streams' | 'turns' | 'limits'>;

/**
 * Calls `StreamCapturer.probe` after waiting for the caller's turn, within the capture timeout. Throws
 * `StreamFetchError` at the timeout, `RateLimitedError` if no turn was free in time, and the reason of `signal`, the
 * caller's.
 */
export function probeStream(
  url: string,
  caller: string,
  deps: ReachDeps,
  signal?: AbortSignal,
): Promise<StreamProbe> {
  return inTurn(caller, deps, () =>
    inTime(deps, 'Failed to fetch stream', signal, (limit) => deps.streams.probe(url, limit, caller)),
  );
}

/** Throws `StreamWithoutClipsError` for a mode with clips if the stream gives single pictures. */
export function requireClips({ framesOnly = false }: StreamProbe, mode: InputMode): void {
  if (framesOnly && mode !== 'frames') throw new StreamWithoutClipsError(mode);
}

/** Calls `StreamCapturer.capture` with the same turn, timeout and errors as `probeStream`. */
export function captureStream(
  request: Omit<CaptureRequest, 'caller'>,
  caller: string,
  deps: ReachDeps,
  signal?: AbortSignal,
): Promise<Capture> {
  const message =
    request.mode === 'frames'
      ? 'Failed to capture frame from stream'
      : 'Failed to capture video clip from stream';
  return inTurn(caller, deps, () =>
    inTime(deps, message, signal, (limit) => deps.streams.capture({ ...request, caller }, limit)),
  );
}

/** Value of `Retry-After` if no turn was free, in seconds. By then a slow stream has probably ended its turn. */
const busyRetrySeconds = 5;

async function inTurn<Found>(
  caller: string,
  { turns }: ReachDeps,
  reach: () => Promise<Found>,
): Promise<Found> {
  const turn = await turns.take(caller);
  if (turn === undefined) throw busyError('the service is at its limit of concurrent stream requests');
  try {
    return await reach();
  } finally {
    turn.end();
  }
}

function busyError(reason: string): RateLimitedError {
  return new RateLimitedError(`Try again in ${busyRetrySeconds} s: ${reason}.`, busyRetrySeconds);
}

async function inTime<Found>(
  { limits }: ReachDeps,
  message: string,
  signal: AbortSignal | undefined,
  reach: (limit: AbortSignal) => Promise<Found>,
): Promise<Found> {
  signal?.throwIfAborted();
  const limit = createTimeLimit(limits.captureTimeoutSeconds, signal);
  try {
    return await reach(limit);
  } catch (error) {
    if (error instanceof MachineBusyError) throw busyError('the machine is busy with other streams');
    if (!limit.aborted || signal?.aborted || error instanceof WatchpostError) throw error;
    throw new StreamFetchError(
      `Check that the stream plays in a video player, then try again. It did not respond within ${limits.captureTimeoutSeconds} s.`,
      message,
      { cause: error },
    );
  }
}

/**
 * Throws `ServiceOverloadedError` while the checks of running jobs are late, and the caller has more than its share.
 */
export function requireCapacity({ pace }: Pick<CoreDeps, 'pace'>, caller: string): void {
  const retryAfterSeconds = pace.retryAfterSeconds(caller);
  if (retryAfterSeconds !== undefined) throw new ServiceOverloadedError(retryAfterSeconds);
}
