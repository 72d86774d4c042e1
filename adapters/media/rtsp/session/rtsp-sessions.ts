import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { StreamFetchError } from '../../../../core/errors.ts';
import { rules } from '../../../../core/rules.ts';
import { shareCall, type SharedCall } from '../../../../core/share-call.ts';
import { waitAtMost, waitUntilAborted, type SetTimer } from '../../../../core/time-limit.ts';
import { toStreamKey, type CallerStream } from '../../../caller-stream.ts';
import { withinTime, describeRtsp } from '../connection/describe.ts';
import type { EgressGuard } from '../../../egress/guard.ts';
import { createFairByteCache, registerCache } from '../../../byte-cache.ts';
import { damagedStream } from '../../ffmpeg/errors.ts';
import { failureMessage } from '../../ffmpeg/run-ffmpeg.ts';
import type { AccessUnit } from '../rtp/access-unit-assembler.ts';
import { createByteRate } from '../connection/rtsp-client.ts';
import {
  createHandedConnections,
  type HandedConnections,
  retryBusy,
} from '../connection/connection-turns.ts';
import {
  RtspConnectionError,
  RtspLimitError,
  limitRemediation,
  rtspStreamError,
} from '../protocol/errors.ts';
import { createKeyFrameMemory } from './key-frame-store.ts';
import { openKeptSession, type KeptSession, type ReadUnits } from './kept-session.ts';
import { createSessionMemory } from './session-memory.ts';
import { nalRules } from '../rtp/nal-units.ts';
import {
  createOpenSessions,
  type OpenedSession,
  type OpenSession,
  type SessionEntry,
  type SessionTrack,
} from './open-sessions.ts';
import type { EndedGroup } from './gop-buffer.ts';

/** RTSP sessions that stay open between captures: one per caller and stream URL, for all jobs and modes. */
export type RtspSessions = ReturnType<typeof createRtspSessions>;

/** Access units of a capture, with the codec and the clock of their track. */
export type SessionUnits = ReadUnits & SessionTrack;

export type RtspSessionsDeps = {
  guard: EgressGuard;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  setTimer: SetTimer;
  /** Sessions that stay open without a capture. Beyond, a session ends with its capture. */
  maxKept: number;
  /** Timeout of each response, in milliseconds. */
  answerTimeoutMs?: number;
  /** Timeout of all responses until a session is open, in milliseconds. */
  openTimeoutMs?: number;
  /** Receives the groups of pictures of streams that have clips. */
  keepGroup?: (stream: CallerStream, group: EndedGroup, track: SessionTrack) => void;
  /** Opens a session. Returns null for a codec that cannot be read from packets. */
  open?: OpenSession;
  /** Called once per stream whose session sends no key frame, so that its captures have a connection each. */
  reportFallback?: (url: string, reason: FallbackReason) => void;
};

export type FallbackReason = 'no key frame';

/**
 * Intervals of captures, and of those that look back, up to which a session stays open: those of checks and of a scan,
 * with a reserve.
 */
const maxIntervalMs = { any: 32_000, scans: rules.maxScanSeconds * 1000 };
/** Time after the interval at which a session without captures closes. */
const keepMs = 3_000;
/** Time without a packet after which a session is replaced. */
const maxSilentMs = 5_000;
/** Wait for a key frame, as long as that of a capture with its own connection. */
const keyFrameWaitMs = 20_000;
/** Wait that proves that key frames are rare (`readSparseSeconds`). */
const measureMs = 11_000;
const defaultOpenTimeoutMs = 15_000;
const avoidMs = 3_600_000;
const [maxKnown, maxFactBytes] = [2_000, 4 * 1024 * 1024];
/** Maximum memory of one session. */
export const maxSessionBytes = 32 * 1024 * 1024;
const maxBytesOfAll = 192 * 1024 * 1024;
/** Key frames of all sessions for scans: 300 streams with five of 100 kB each. */
const maxKeyFrameBytes = 150e6;
/** 47 Mb/s in packets of 1400 bytes, more than a 4K camera of high quality. */
const rate = { maxBytesPerSecond: 8e6, maxBurstBytes: 32 * 1024 * 1024 };

/** Captures of a URL: the newest one, the newest one that looked back, and the time until which it has no session. */
type Known = { capturedMs: number; scannedMs: number; avoidedUntilMs: number; isReported: boolean };

const unknown: Known = {
  capturedMs: -Infinity,
  scannedMs: -Infinity,
  avoidedUntilMs: -Infinity,
  isReported: false,
};

export function createRtspSessions(deps: RtspSessionsDeps) {
  const { elapsedMs, setTimer } = deps;
  const handed = createHandedConnections(setTimer);
  const sessions = createOpenSessions(deps.open ?? createOpen(deps, handed), deps.maxKept, setTimer);
  const probes = createSharedProbes();
  const history = createHistory(elapsedMs, deps.reportFallback);
  let isClosed = false;
  return {
    read,
    probe,
    /** Connections of probes, for the first capture. */
    handed,
    /**
     * Returns the time between key frames as far as the session of a stream has seen it, in seconds; undefined
     * without a session. With `waits`, it waits for a second key frame, for at most 11 s. Throws the abort reason.
     */
    keyFrameSeconds: async (
      stream: CallerStream,
      waits: boolean,
      signal: AbortSignal,
    ): Promise<number | undefined> => {
      const session = sessions.find(stream)?.session;
      if (session && waits) await workAtMost(measureMs, session.measureKeyFrames, signal, setTimer);
      return session?.keyFrameSeconds();
    },
    /**
     * Calls `onKeyFrame` with the key frames of the open session of a stream. Resolves without one, and at its end;
     * throws the abort reason.
     */
    follow: async (
      stream: CallerStream,
      onKeyFrame: (unit: AccessUnit, track: SessionTrack) => void,
      signal: AbortSignal,
    ): Promise<void> => {
      const opened = await sessions.find(stream)?.opening.catch(() => null);
      await opened?.session.follow((unit) => onKeyFrame(unit, opened.track), signal);
    },
    close: async (): Promise<void> => {
      isClosed = true;
      handed.close();
      await sessions.endAll();
    },
  };

  /**
   * Returns access units for a capture. Opens a session if none is open. Returns null if the stream needs a
   * connection per capture; the session is closed then. With `after`, they begin after that unit, whose picture was
   * damaged. Throws `StreamFetchError`, `InvalidUrlError`, `NotLiveError`, and the abort reason.
   */
  async function read(
    request: CaptureRequest,
    signal: AbortSignal,
    after?: AccessUnit,
  ): Promise<SessionUnits | null> {
    const keptMs = history.addCapture(request);
    if (isClosed || history.isAvoided(request)) {
      await noneBeside(request);
      return null;
    }
    const existing = sessions.find(request);
    if (existing?.session && !isUsable(existing.session)) void sessions.end(existing);
    const entry = sessions.find(request) ?? sessions.begin(request, noneBeside(request));
    sessions.enter(entry);
    try {
      return await readFrom(entry, request, signal, after);
    } catch (error) {
      signal.throwIfAborted();
      // A session that ended between two captures is replaced in the second one.
      const isReplaced = existing === entry && error instanceof RtspConnectionError && !isClosed;
      void sessions.end(entry);
      if (isReplaced) return await read(request, signal, after);
      throw error instanceof RtspConnectionError ? noFrame(request, error) : error;
    } finally {
      sessions.leave(entry, keptMs);
    }
  }

  async function readFrom(
    entry: SessionEntry,
    request: CaptureRequest,
    signal: AbortSignal,
    after?: AccessUnit,
  ): Promise<SessionUnits | null> {
    const opened = await waitUntilAborted(entry.opening, signal);
    const units = opened && (await readUnits(opened.session, request, { setTimer, after }, signal));
    if (opened && units) return { ...units, ...opened.track };
    const isSilent = opened !== null && opened.session.silentMs() > maxSilentMs;
    const isLong = request.mode !== 'frames' || after !== undefined;
    if (!isSilent && opened?.session.isDamaged(isLong)) throw damagedStream(failureMessage(request.mode));
    // A codec without sessions is no fallback.
    if (!isSilent && !after) history.avoid(entry.stream, avoidMs, opened ? 'no key frame' : undefined);
    await sessions.end(entry);
    if (isSilent) throw noFrame(request);
    return null;
  }

  /**
   * Proves that a stream is live: by its session, or by `connect`, once for all probes at a time. A camera may
   * accept one connection only. Throws like `connect`, and the abort reason.
   */
  async function probe(
    stream: CallerStream,
    connect: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    // A session that cannot be opened is no answer: the probe names the cause.
    const opening = sessions.find(stream)?.opening.catch(() => null);
    if (opening) await waitUntilAborted(opening, signal);
    if (isUsable(sessions.find(stream)?.session)) return;
    const closed = sessions.closed(stream);
    if (closed) await closed;
    await probes.join(toStreamKey(stream), connect, signal);
  }

  /** Waits until no session is being closed and no probe is under way. */
  async function noneBeside(stream: CallerStream): Promise<void> {
    await Promise.all([sessions.closed(stream), probes.underWay(toStreamKey(stream))]);
  }
}

/** Creates the probes of all streams, one each at a time. */
function createSharedProbes() {
  const probes = new Map<string, SharedCall<void>>();
  return {
    join(key: string, connect: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
      return (probes.get(key) ?? begin(key, connect)).join(signal);
    },
    /** Resolves at the end of the probe of a stream, whatever its result. */
    underWay: (key: string) => probes.get(key)?.result.catch(() => undefined),
  };

  function begin(key: string, connect: (signal: AbortSignal) => Promise<void>): SharedCall<void> {
    const forget = (): void => void (probes.get(key) === shared && probes.delete(key));
    const shared = shareCall(connect, forget);
    probes.set(key, shared);
    shared.result.then(forget, forget);
    return shared;
  }
}

function createHistory(
  elapsedMs: () => number,
  reportFallback: (url: string, reason: FallbackReason) => void = () => undefined,
) {
  const facts = createFairByteCache<Known>({
    name: 'facts of cameras',
    max: maxKnown,
    maxBytes: maxFactBytes,
  });
  return {
    /**
     * Notes a capture. Returns the time for which its session stays: longer after the first one, and after one that
     * follows another within the interval.
     */
    addCapture({ url, caller, lookBack }: CaptureRequest): number {
      const before = facts.get(caller, url);
      const nowMs = elapsedMs();
      note({ url, caller }, { capturedMs: nowMs, ...(lookBack && { scannedMs: nowMs }) });
      const sinceMs = (ms = -Infinity) => (before ? nowMs - ms : 0);
      const isFrequent = sinceMs(before?.capturedMs) <= maxIntervalMs.any;
      const isScanned = sinceMs(before?.scannedMs) <= maxIntervalMs.scans;
      const leftMs = maxIntervalMs.scans + keepMs - (lookBack ? 0 : sinceMs(before?.scannedMs));
      return Math.max(
        isFrequent ? maxIntervalMs.any + keepMs : 0,
        isScanned && (lookBack || before) ? leftMs : 0,
      );
    },
    isAvoided: ({ url, caller }: CallerStream) =>
      (facts.get(caller, url)?.avoidedUntilMs ?? -Infinity) > elapsedMs(),
    avoid(stream: CallerStream, forMs: number, reason?: FallbackReason): void {
      const { url, caller } = stream;
      if (reason && !facts.get(caller, url)?.isReported) reportFallback(url, reason);
      note(stream, { avoidedUntilMs: elapsedMs() + forMs, ...(reason && { isReported: true }) });
    },
  };

  function note({ url, caller }: CallerStream, changes: Partial<Known>): void {
    facts.set(caller, url, { ...unknown, ...facts.get(caller, url), ...changes });
  }
}

/** Waits for the units of a capture as long as a capture with its own connection does; null after that. */
export async function readUnits(
  session: KeptSession,
  request: CaptureRequest,
  { setTimer, after }: { setTimer: SetTimer; after?: AccessUnit | undefined },
  signal: AbortSignal,
): Promise<ReadUnits | null> {
  const waitMs = keyFrameWaitMs + (request.mode === 'frames' ? 0 : request.clipSeconds * 1000);
  return workAtMost(waitMs, (bounded) => session.read(request, bounded, after), signal, setTimer);
}

/** Waits for `work` until a timer fires, which aborts it; the result is null then. */
export async function workAtMost<Result>(
  milliseconds: number,
  work: (bounded: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
  setTimer: SetTimer,
): Promise<Result | null> {
  const waiting = new AbortController();
  const working = work(AbortSignal.any([signal, waiting.signal]));
  return waitAtMost<Result | null>(milliseconds, working, () => null, setTimer).finally(() =>
    waiting.abort(),
  );
}

function isUsable(session: KeptSession | undefined): boolean {
  return session !== undefined && !session.hasEnded() && session.silentMs() <= maxSilentMs;
}

/** Creates the error for a server that sends no key frame, or ends the connection. */
export function noFrame({ mode }: Pick<CaptureRequest, 'mode'>, cause?: Error): StreamFetchError {
  return new StreamFetchError(
    cause instanceof RtspLimitError
      ? limitRemediation
      : 'The RTSP server sent no key frame, or closed the connection. Check that the stream plays in a video player, then try again.',
    failureMessage(mode),
    { cause },
  );
}

/** Returns a function that connects through the guard, with a limit on the rate instead of the sum of bytes. */
function createOpen(
  {
    guard,
    elapsedMs,
    answerTimeoutMs,
    openTimeoutMs = defaultOpenTimeoutMs,
    setTimer,
    keepGroup,
  }: RtspSessionsDeps,
  handed: HandedConnections,
): OpenSession {
  const memory = createSessionMemory(maxBytesOfAll);
  const keyFrames = createKeyFrameMemory(maxKeyFrameBytes);
  registerCache('groups of pictures', maxBytesOfAll, memory, ({ bytes }) => bytes());
  registerCache('key frames', maxKeyFrameBytes, keyFrames, ({ bytes }) => bytes());
  return async (stream, signal) =>
    open(stream, signal).catch(async (error: unknown) =>
      retryBusy(error, async () => open(stream, signal), setTimer, signal),
    );

  async function open(opened: CallerStream, signal: AbortSignal): Promise<OpenedSession | null> {
    return withinTime(openTimeoutMs, signal, async (bounded) => {
      const admitsBytes = createByteRate({ ...rate, elapsedMs });
      const options = {
        guard,
        admitsBytes,
        handed,
        ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
      };
      const stream = await describeRtsp(opened, options, bounded);
      const unitRules = nalRules(stream.track);
      if (unitRules === null) {
        stream.client.close();
        return null;
      }
      try {
        const track = { codec: unitRules.codec, clockRate: stream.track.clockRate };
        const session = await openKeptSession(stream, unitRules, {
          caller: opened.caller,
          elapsedMs,
          memory,
          keyFrames,
          maxBytes: maxSessionBytes,
          keepGroup: keepGroup && ((group) => keepGroup(opened, group, track)),
        });
        return { session, track };
      } catch (error) {
        stream.client.close();
        throw rtspStreamError(error, stream.target);
      }
    });
  }
}
