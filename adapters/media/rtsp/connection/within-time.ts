import { StreamFetchError } from '../../../../core/errors.ts';
import { openDeadline } from '../../../egress/deadline.ts';

/** Runs work with a time limit for the whole: a camera that exceeds it has failed, however fast each response is. */
export async function withinTime<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = openDeadline(timeoutMs, signal);
  try {
    return await work(deadline.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.signal.aborted) throw error;
    throw new StreamFetchError(
      'The RTSP server did not finish in time. Check that the stream plays in a video player.',
      undefined,
      {
        cause: error,
      },
    );
  } finally {
    deadline.close();
  }
}
