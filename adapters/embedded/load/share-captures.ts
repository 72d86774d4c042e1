import type { Capture, CaptureRequest, Scan } from '../../../core/records/capture.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';

/** Time after its end for which a capture is reused, in milliseconds. */
const maxAgeMs = 1000;

export type ShareCapturesDeps = {
  streams: StreamCapturer;
  /** Monotonic clock. */
  steadyNow: () => Date;
};

/** A capture under way or done, and the requests that wait for it. */
type SharedCapture = {
  call: SharedCall<Capture>;
  /** `undefined` while under way. */
  endedAt: Date | undefined;
  isFresh: boolean;
};

/**
 * Returns a capturer whose jobs share captures: a request of the same caller for the same URL and media receives the
 * capture that is under way, or one that ended less than a second before. Modes clip and hybrid have the same media. An aborted
 * request leaves the capture to the others; the last one aborts it. A failure reaches all that wait, and is then forgotten.
 * A request that looks back shares only captures that look back since the same position. One with `resolveAgain` shares only captures that resolved the URL again.
 */
export function shareCaptures({ streams, steadyNow }: ShareCapturesDeps): StreamCapturer {
  const shared = new Map<string, SharedCapture>();
  return { probe: streams.probe, capture };

  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    signal.throwIfAborted();
    forgetOld(shared, steadyNow().getTime() - maxAgeMs);
    const key = shareKey(request);
    const existing = shared.get(key);
    const usable = existing !== undefined && (existing.isFresh || !request.resolveAgain);
    return (usable ? existing : begin(key, request)).call.join(signal);
  }

  function begin(key: string, request: CaptureRequest): SharedCapture {
    const entry: SharedCapture = {
      call: shareCall(
        async (signal) => sharePictures(await streams.capture(request, signal)),
        () => forget(key, entry),
      ),
      endedAt: undefined,
      isFresh: request.resolveAgain,
    };
    shared.set(key, entry);
    entry.call.result.then(
      () => (entry.endedAt = steadyNow()),
      () => forget(key, entry),
    );
    return entry;
  }

  function forget(key: string, entry: SharedCapture): void {
    if (shared.get(key) === entry) shared.delete(key);
  }
}

function forgetOld(shared: Map<string, SharedCapture>, oldestMs: number): void {
  for (const [key, { endedAt }] of shared)
    if (endedAt !== undefined && endedAt.getTime() < oldestMs) shared.delete(key);
}

/** Returns a capture whose jobs share the pictures of its scan too. */
function sharePictures(capture: Capture): Capture {
  return capture.scan ? { ...capture, scan: shareScan(capture.scan) } : capture;
}

function shareScan(scan: Scan): Scan {
  const pictures = new Map<number, SharedCall<Uint8Array | null>>();
  return { ...scan, picture: (index, signal) => find(index).join(signal) };

  function find(index: number): SharedCall<Uint8Array | null> {
    const known = pictures.get(index);
    if (known !== undefined) return known;
    const forget = () => void pictures.delete(index);
    const call = shareCall((signal) => scan.picture(index, signal), forget);
    call.result.catch(forget);
    pictures.set(index, call);
    return call;
  }
}

function shareKey({ url, caller, mode, clipSeconds, lookBack }: CaptureRequest): string {
  const media = mode === 'frames' ? [mode] : ['clip', clipSeconds];
  return JSON.stringify([caller, url, media, lookBack]);
}
