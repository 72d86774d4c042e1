import type { Capture, CaptureRequest } from '../../core/records/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import { waitUntilAborted } from '../../core/time-limit.ts';

/** Time after its end for which a capture is reused, in milliseconds. */
const maxAgeMs = 1000;

export type ShareCapturesDeps = {
  streams: StreamCapturer;
  /** Monotonic clock. */
  steadyNow: () => Date;
};

/** A capture under way or done, and the requests that wait for it. */
type SharedCapture = {
  result: Promise<Capture>;
  /** `undefined` while under way. */
  endedAt: Date | undefined;
  isFresh: boolean;
  waiting: number;
  abort: () => void;
};

/**
 * Returns a capturer whose jobs share captures: a request for the same URL and media receives the
 * capture that is under way, or one that ended less than a second before. An aborted
 * request leaves the capture to the others; the last one aborts it. A failure reaches all that wait, and is then forgotten.
 * A request with `resolveAgain` shares only captures that resolved the URL again.
 */
export function shareCaptures({ streams, steadyNow }: ShareCapturesDeps): StreamCapturer {
  const shared = new Map<string, SharedCapture>();
  return { probe: streams.probe, capture };

  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    signal.throwIfAborted();
    forgetOld();
    const key = shareKey(request);
    const existing = shared.get(key);
    const usable = existing !== undefined && (existing.isFresh || !request.resolveAgain);
    return join(usable ? existing : begin(key, request), key, signal);
  }

  function forgetOld(): void {
    const oldest = steadyNow().getTime() - maxAgeMs;
    for (const [key, { endedAt }] of shared)
      if (endedAt !== undefined && endedAt.getTime() < oldest) shared.delete(key);
  }

  function begin(key: string, request: CaptureRequest): SharedCapture {
    const controller = new AbortController();
    const entry: SharedCapture = {
      result: streams.capture(request, controller.signal),
      endedAt: undefined,
      isFresh: request.resolveAgain,
      waiting: 0,
      abort: () => controller.abort(),
    };
    shared.set(key, entry);
    entry.result.then(
      () => (entry.endedAt = steadyNow()),
      () => forget(key, entry),
    );
    return entry;
  }

  async function join(entry: SharedCapture, key: string, signal: AbortSignal): Promise<Capture> {
    entry.waiting += 1;
    try {
      return await waitUntilAborted(entry.result, signal);
    } finally {
      entry.waiting -= 1;
      if (signal.aborted && entry.waiting === 0) {
        forget(key, entry);
        entry.abort();
      }
    }
  }

  function forget(key: string, entry: SharedCapture): void {
    if (shared.get(key) === entry) shared.delete(key);
  }
}

function shareKey({ url, mode, clipSeconds }: CaptureRequest): string {
  return JSON.stringify(mode === 'frames' ? [url, mode] : [url, mode, clipSeconds]);
}
