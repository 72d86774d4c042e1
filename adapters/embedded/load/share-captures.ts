import { LRUCache } from 'lru-cache';
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

/** Streams whose callers are remembered. */
const maxKnown = 2_000;
/** Stands for several callers. No name of a caller is empty. */
const several = '';

/** A capture under way or done, and the requests that wait for it. */
type SharedCapture = {
  /** Only caller of the stream, for whom a shared process may decode it; `several` for a process of its own. */
  caller: string;
  call: SharedCall<Capture>;
  /** `undefined` while under way. */
  endedAt: Date | undefined;
  isFresh: boolean;
};

/**
 * Returns a capturer whose jobs share captures: a request for the same URL and media receives the
 * capture that is under way, or one that ended less than a second before. Modes clip and hybrid have the same media. An aborted
 * request leaves the capture to the others; the last one aborts it. A failure reaches all that wait, and is then forgotten.
 * A request that looks back shares only captures that look back since the same position. One with `resolveAgain` shares only captures that resolved the URL again. Captures that several callers share are decoded for none of them.
 */
export function shareCaptures({ streams, steadyNow }: ShareCapturesDeps): StreamCapturer {
  const shared = new Map<string, SharedCapture>();
  const callers = new LRUCache<string, string>({ max: maxKnown });
  return { probe: streams.probe, capture };

  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    signal.throwIfAborted();
    forgetOld(shared, steadyNow().getTime() - maxAgeMs);
    const media = shareKey(request);
    const caller = findCaller(media, request);
    const key = JSON.stringify([media, request.lookBack]);
    const existing = shared.get(key);
    const usable = existing?.caller === caller && (existing.isFresh || !request.resolveAgain);
    return (usable ? existing : begin(key, caller, request)).call.join(signal);
  }

  function findCaller(key: string, { caller = several }: CaptureRequest): string {
    const found = (callers.get(key) ?? caller) === caller ? caller : several;
    callers.set(key, found);
    return found;
  }

  function begin(key: string, caller: string, request: CaptureRequest): SharedCapture {
    const forDecoder = caller === several ? undefined : caller;
    const entry: SharedCapture = {
      caller,
      call: shareCall(
        async (signal) => sharePictures(await streams.capture({ ...request, caller: forDecoder }, signal)),
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

function shareKey({ url, mode, clipSeconds }: CaptureRequest): string {
  return JSON.stringify(mode === 'frames' ? [url, mode] : [url, 'clip', clipSeconds]);
}
