import type { Capture, CaptureRequest, StreamProbe } from '../../../core/records/capture.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import { setSystemTimer, type SetTimer } from '../../../core/time-limit.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import type { CallerStream } from '../../caller-stream.ts';
import type { ClipDeps } from '../clips/read-clip.ts';
import { damagedStream, NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { failureMessage, type FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { clipRtsp } from './clip-rtsp.ts';
import { recordRtsp, openOwnSession, setUp, decodeSession } from './record-rtsp.ts';
import { createConnectionTurns } from './connection/connection-turns.ts';
import { withinTime, describeAgain, describeRtsp, type DescribedStream } from './connection/describe.ts';
import { decodeOnArrival } from './scan/follow-session.ts';
import { RtspConnectionError } from './protocol/errors.ts';
import type { AccessUnit } from './rtp/access-unit-assembler.ts';
import { nalRules, type NalRules } from './rtp/nal-units.ts';
import { openRtspRelay } from './rtsp-relay.ts';
import { noFrame, readUnits, type RtspSessions, type SessionUnits } from './session/rtsp-sessions.ts';
import { leaveOut } from '../scan/measure-scan.ts';
import { scanSession, type SessionScan } from './scan/scan-session.ts';
import { readRtspUrl, type RtspTarget } from './protocol/stream-url.ts';

export type RtspCapturerDeps = {
  guard: EgressGuard;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Timeout of each response, in milliseconds. Default: 8,000. */
  answerTimeoutMs?: number;
  /** Sessions that stay open between captures. If absent, each capture opens a connection. */
  sessions?: RtspSessions | undefined;
  /** Makes clips of what sessions keep. */
  clips?: Omit<ClipDeps, 'now'> | undefined;
  /** Timers of further attempts. Default: those of the system. */
  setTimer?: SetTimer;
};

/**
 * Creates a capturer for RTSP. A capture reads from a session that stays open, if there are such and the stream fits.
 * Otherwise it opens a connection.
 */
export function createRtspCapturer(deps: RtspCapturerDeps): StreamCapturer {
  const turns = createConnectionTurns(deps.setTimer ?? setSystemTimer);
  const { clips, now } = deps;
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
    ...(clips && {
      clip: async (request, signal) => {
        if (!deps.sessions) return recordRtsp({ ...deps, ...clips }, request, signal);
        return clipRtsp({ ...clips, now }, request, signal);
      },
    }),
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
            captureRtsp(request, deps, bounded),
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

/**
 * Leaves the connection to the first capture, if there are sessions: without them, the next capture may be in another
 * process.
 */
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
  const read = async (after?: AccessUnit) => (await sessions?.read(request, signal, after)) ?? null;
  return decodeWhole(read, async (units) => {
    const capturedAt = new Date(now().getTime() - units.ageMs);
    const scan = async () => request.lookBack && scanSession(units, capturedAt, request, ffmpeg, signal);
    // A scan of a GOP up to its newest frame decodes that one too.
    const early = units.kind === 'newest' ? await scan() : undefined;
    const [pictures, keyFrameSeconds] = await Promise.all([
      early?.newest ?? decodeSession(units, request, ffmpeg, signal),
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
  });
}

/** Attempts with one key frame each after a picture that is damaged, and the time for them. */
const [maxAttempts, retryMs] = [4, 10_000];

/**
 * Decodes the units that `read` returns, and the next ones if their picture is damaged. Returns null if `read` does.
 */
async function decodeWhole<Decoded>(
  read: (after?: AccessUnit) => Promise<SessionUnits | null>,
  decode: (units: SessionUnits) => Promise<Decoded>,
): Promise<Decoded | null> {
  const untilMs = performance.now() + retryMs;
  let failure: NoFrameDecodedError | undefined;
  let after: AccessUnit | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const units = await read(after).catch((error: unknown) => {
      // The stream ended before another key frame: the damage is the reason.
      throw failure ?? error;
    });
    if (units === null && failure) throw failure;
    if (units === null) return null;
    try {
      return await decode(units);
    } catch (error) {
      if (!(error instanceof NoFrameDecodedError)) throw error;
      if (attempt === maxAttempts || performance.now() > untilMs) throw error;
      [failure, after] = [error, units.units.at(-1)];
    }
  }
}

async function captureRtsp(
  request: CaptureRequest,
  deps: RtspCapturerDeps,
  signal: AbortSignal,
): Promise<Capture> {
  const stream = await describeRtsp(request, { ...deps, handed: deps.sessions?.handed }, signal);
  const rules = nalRules(stream.track);
  const captured = await (rules
    ? captureUnits(stream, rules, request, deps, signal)
    : captureThroughRelay(stream, request, deps, signal));
  const scanned = request.lookBack && leaveOut(request.lookBack.since, captured.capturedAt);
  return { ...captured, position, ...withScan(scanned) };
}

type Captured = Omit<Capture, 'position'>;

async function captureUnits(
  stream: DescribedStream,
  rules: NalRules,
  request: CaptureRequest,
  { ffmpeg, now, setTimer = setSystemTimer }: RtspCapturerDeps,
  signal: AbortSignal,
): Promise<Captured> {
  const session = await openOwnSession(stream, rules, request.caller, signal);
  const read = async (after?: AccessUnit): Promise<SessionUnits | null> => {
    const units = await readUnits(session, request, { setTimer, after }, signal);
    return units && { ...units, codec: rules.codec, clockRate: stream.track.clockRate };
  };
  const nothingWhole = (cause?: Error) =>
    session.isDamaged(true) ? damagedStream(failureMessage(request.mode), cause) : noFrame(request, cause);
  try {
    const captured = await decodeWhole(read, async (units) => {
      const capturedAt = new Date(now().getTime() - units.ageMs);
      return { ...(await decodeSession(units, request, ffmpeg, signal)), capturedAt };
    });
    if (captured) return { ...captured, keyFrameSeconds: session.keyFrameSeconds() };
    throw nothingWhole();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof RtspConnectionError ? nothingWhole(error) : error;
  } finally {
    void session.close();
  }
}

/** Codecs of which a picture can be decoded after a hole: each one, or each key frame. */
const withoutReferences: readonly string[] = ['JPEG'];
const withKeyFrames: readonly string[] = ['MP4V-ES', 'VP8'];

async function captureThroughRelay(
  stream: DescribedStream,
  request: CaptureRequest,
  deps: RtspCapturerDeps,
  signal: AbortSignal,
): Promise<Captured> {
  const relay = await setUp(stream, signal, () => openRtspRelay(stream, deps.now));
  const { codec } = stream.track;
  const survives =
    withoutReferences.includes(codec) || (request.mode === 'frames' && withKeyFrames.includes(codec));
  const fail = (cause?: unknown) => damagedStream(failureMessage(request.mode), cause);
  try {
    const input = { kind: 'rtsp', relayUrl: relay.url } as const;
    const pictures = await deps.ffmpeg.run(input, request, { timeoutMs: pictureTimeoutMs(request) }, signal);
    if (relay.isDamaged() && !survives) throw fail();
    return { ...pictures, capturedAt: relay.lastFrameAt() ?? deps.now() };
  } catch (error) {
    throw error instanceof StreamFetchError && relay.isDamaged() ? fail(error) : error;
  } finally {
    await relay.close();
  }
}
