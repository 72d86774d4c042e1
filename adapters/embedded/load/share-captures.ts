import type { Capture, CaptureRequest, ScannedFrame } from '../../../core/records/capture.ts';
import type { ScanningCapturer } from '../../../core/ports/stream-capturer.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';

/** Time after its end for which a capture is reused, in milliseconds. */
const maxAgeMs = 1000;

export type ShareCapturesDeps = {
  streams: ScanningCapturer;
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
 * capture that is under way, or one that ended less than a second before. Modes clip and hybrid have the same media. An
 * aborted request leaves the capture to the others; the last one aborts it. A failure reaches all that wait, and is
 * then forgotten. A request that looks back shares only captures that look back since the same position, and the
 * pictures of their frames. One with `resolveAgain` shares only captures that resolved the URL again.
 */
export function shareCaptures({ streams, steadyNow }: ShareCapturesDeps): ScanningCapturer {
  const shared = new Map<string, SharedCapture>();
  const pictures = new WeakMap<ScannedFrame, SharedCall<Uint8Array | null>>();
  return {
    probe: streams.probe,
    capture,
    picture: (frame, request, signal) => (pictures.get(frame) ?? readPicture(frame, request)).join(signal),
  };

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
        (signal) => streams.capture(request, signal),
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

  function readPicture(frame: ScannedFrame, request: Pick<CaptureRequest, 'caller'>) {
    const forgetPicture = () => void pictures.delete(frame);
    const call = shareCall((signal) => streams.picture(frame, request, signal), forgetPicture);
    call.result.catch(forgetPicture);
    pictures.set(frame, call);
    return call;
  }

  function forget(key: string, entry: SharedCapture): void {
    if (shared.get(key) === entry) shared.delete(key);
  }
}

function forgetOld(shared: Map<string, SharedCapture>, oldestMs: number): void {
  for (const [key, { endedAt }] of shared)
    if (endedAt !== undefined && endedAt.getTime() < oldestMs) shared.delete(key);
}

function shareKey({ url, caller, mode, clipSeconds, lookBack }: CaptureRequest): string {
  const media = mode === 'frames' ? [mode] : ['clip', clipSeconds];
  return JSON.stringify([caller, url, media, lookBack]);
}
