import type { Capture, CaptureRequest, StreamProbe } from '../../../core/records/capture.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import { setSystemTimer, type SetTimer } from '../../../core/time-limit.ts';
import { openDeadline } from '../../egress/deadline.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import type { CallerStream } from '../../caller-stream.ts';
import { createFairByteCache } from '../../byte-cache.ts';
import type { FairCache } from '../../fair-cache.ts';
import { decodeNewest } from '../ffmpeg/decode-newest.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import type { FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { createConnectionTurns } from './connection/connection-turns.ts';
import { describeAgain, describeRtsp, type DescribedStream } from './connection/describe.ts';
import { decodeSession } from './decode-session.ts';
import { decodeOnArrival } from './scan/follow-session.ts';
import { openRtspRelay, type RtspRelay } from './rtsp-relay.ts';
import type { RtspSessions } from './session/rtsp-sessions.ts';
import { leaveOut } from '../scan/measure-scan.ts';
import { scanSession, type SessionScan } from './scan/scan-session.ts';
import { rtspStreamError } from './protocol/stream-error.ts';
import { readRtspUrl, type RtspTarget } from './protocol/stream-url.ts';

/** Dependencies of the RTSP capturer. */
export type RtspCapturerDeps = {
  guard: EgressGuard;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Timeout of each response, in milliseconds. Default: 8,000. */
  answerTimeoutMs?: number;
  /** Sessions that stay open between captures. If absent, each capture opens a connection. */
  sessions?: RtspSessions | undefined;
  /** Timers of further attempts. Default: those of the system. */
  setTimer?: SetTimer;
};

/**
 * Creates a capturer for RTSP. A capture reads from a session that stays open, if there are such and the stream fits. Otherwise
 * it opens a connection.
 */
export function createRtspCapturer(deps: RtspCapturerDeps): StreamCapturer {
  const turns = createConnectionTurns(deps.setTimer ?? setSystemTimer);
  const refreshed: RefreshedStreams = createFairByteCache({
    name: 'streams with intra refresh',
    max: maxKnown,
    maxBytes,
  });
  return {
    probe: async (url, signal, caller) => {
      const stream = { url, caller };
      const connect = (sharedSignal: AbortSignal) =>
        turns.run(
          stream,
          () =>
            withinTime(conversationTimeoutMs, sharedSignal, (bounded) => probeRtsp(stream, deps, bounded)),
          sharedSignal,
        );
      await (deps.sessions?.probe(stream, connect, signal) ?? connect(signal));
      return toProbe(readRtspUrl(url, deps.guard));
    },
    follow: async (stream, onFrame, signal) => {
      const { caller } = stream;
      await deps.sessions?.follow(stream, decodeOnArrival({ ...deps, caller }, onFrame, signal), signal);
    },
    capture: async (request, signal) =>
      (await captureFromSession(request, deps, signal)) ??
      (await turns.run(
        request,
        () =>
          withinTime(conversationTimeoutMs + pictureTimeoutMs(request), signal, (bounded) =>
            captureRtsp(request, { ...deps, refreshed }, bounded),
          ),
        signal,
      )),
  };
}

/** Timeout for connecting, OPTIONS, DESCRIBE and SETUP together, each possibly sent twice for authentication. */
const conversationTimeoutMs = 15_000;

/**
 * Timeout for the first key frame. Cameras in a low-bandwidth mode send one every 10 s, and decoding starts with
 * it.
 */
const keyFrameTimeoutMs = 20_000;

function pictureTimeoutMs(request: CaptureRequest): number {
  return keyFrameTimeoutMs + (request.mode === 'frames' ? 0 : request.clipSeconds * 1000);
}

async function withinTime<T>(
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

/** Leaves the connection to the first capture, if there are sessions: without them, the next capture may be in another process. */
async function probeRtsp(probed: CallerStream, deps: RtspCapturerDeps, signal: AbortSignal): Promise<void> {
  const handed = deps.sessions?.handed;
  const earlier = handed?.take(probed);
  const again = earlier && (await describeAgain(earlier, signal).catch(() => undefined));
  signal.throwIfAborted();
  const stream = again ?? (await describeRtsp(probed, deps, signal));
  if (handed) handed.put(probed, stream);
  else stream.client.close();
}

function toProbe({ shownUrl }: RtspTarget): StreamProbe {
  return { platform: 'rtsp', playbackUrl: shownUrl };
}

/** A connection is at the live edge, so no segment can become stale. */
const position = { segment: null, segment_seconds: 0 };

function withScan(scanned: SessionScan | undefined): Pick<Capture, 'position' | 'scan'> | undefined {
  return scanned && { scan: scanned.scan, position: { ...position, scan: scanned.position } };
}

/** Returns null if no session serves the stream. */
async function captureFromSession(
  request: CaptureRequest,
  { sessions, ffmpeg, now }: RtspCapturerDeps,
  signal: AbortSignal,
): Promise<Capture | null> {
  const read = (await sessions?.read(request, signal)) ?? null;
  if (read === null) return null;
  const capturedAt = new Date(now().getTime() - read.ageMs);
  try {
    const scan = async () => request.lookBack && scanSession(read, capturedAt, request, ffmpeg, signal);
    // A scan of a GOP up to its newest frame decodes that one too.
    const early = read.kind === 'newest' ? await scan() : undefined;
    const [pictures, keyFrameSeconds] = await Promise.all([
      early?.newest ?? decodeSession(read, request, ffmpeg, signal),
      sessions?.keyFrameSeconds(request, request.measuresKeyFrames ?? false, signal),
    ]);
    const scanned = early ?? (await scan());
    return {
      frame: pictures.frame,
      thumbnail: pictures.thumbnail,
      ...(pictures.clip && { clip: pictures.clip }),
      capturedAt,
      position,
      ...(keyFrameSeconds !== undefined && { keyFrameSeconds }),
      ...withScan(scanned),
    };
  } catch (error) {
    if (!(error instanceof NoFrameDecodedError)) throw error;
    await sessions?.avoid(request);
    return null;
  }
}

/** URLs of streams with intra refresh, whose decoder must not skip to a key frame. */
type RefreshedStreams = FairCache<string, true>;

const [maxKnown, maxBytes] = [2_000, 4 * 1024 * 1024];

async function captureRtsp(
  request: CaptureRequest,
  deps: RtspCapturerDeps & { refreshed: RefreshedStreams },
  signal: AbortSignal,
): Promise<Capture> {
  const isRefreshed = request.mode === 'frames' && deps.refreshed.get(request.caller, request.url) === true;
  const stream = await describeRtsp(request, { ...deps, handed: deps.sessions?.handed }, signal);
  const until = request.mode === 'frames' && !isRefreshed ? 'key frame' : 'the end';
  const relay = await openRelay(stream, until, deps, signal);
  try {
    const timeoutMs = pictureTimeoutMs(request);
    const input = { kind: 'rtsp', relayUrl: relay.url } as const;
    const pictures = isRefreshed
      ? await decodeNewest(deps.ffmpeg, input, { timeoutMs }, signal)
      : await deps.ffmpeg.run(input, request, { timeoutMs }, signal);
    const capturedAt = relay.lastFrameAt() ?? deps.now();
    const scanned = request.lookBack && leaveOut(request.lookBack.since, capturedAt);
    return {
      ...pictures,
      capturedAt,
      position,
      keyFrameSeconds: relay.secondsWithoutKeyFrame(),
      ...withScan(scanned),
    };
  } catch (error) {
    if (!(error instanceof NoFrameDecodedError) || !relay.isRefreshed() || isRefreshed) throw error;
    deps.refreshed.set(request.caller, request.url, true);
  } finally {
    await relay.close();
  }
  return captureRtsp(request, deps, signal);
}

async function openRelay(
  stream: DescribedStream,
  until: 'key frame' | 'the end',
  deps: RtspCapturerDeps,
  signal: AbortSignal,
): Promise<RtspRelay> {
  try {
    return await openRtspRelay(stream, deps.now, until);
  } catch (error) {
    stream.client.close();
    signal.throwIfAborted();
    throw rtspStreamError(error, stream.target);
  }
}
