import { LRUCache } from 'lru-cache';
import type { CaptureRequest } from '../../../core/records/capture.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';
import { waitAtMost, waitUntilAborted, type SetTimer } from '../../../core/time-limit.ts';
import { openDeadline } from '../../egress/deadline.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { failureMessage } from '../ffmpeg/run-ffmpeg.ts';
import { createByteRate } from './byte-limit.ts';
import { describeRtsp } from './describe.ts';
import { RtspConnectionError, RtspLimitError } from './errors.ts';
import { openKeptSession, type KeptSession, type ReadUnits, type SessionMemory } from './kept-session.ts';
import { nalRules, type NalRules } from './nal-units.ts';
import { limitRemediation, rtspStreamError } from './stream-error.ts';

/** RTSP sessions that stay open between captures: one per stream URL, for all jobs and modes. */
export type RtspSessions = {
  /**
   * Returns access units for a capture. Opens a session if none is open. Returns null if the stream needs a connection per
   * capture; the session is closed then. Throws `StreamFetchError`, `InvalidUrlError`, `NotLiveError`, and the abort reason.
   */
  read(request: CaptureRequest, signal: AbortSignal): Promise<SessionUnits | null>;
  /**
   * Proves that a stream is live: by its session, or by `connect`, once for all probes at a time. A camera may accept one connection only. Throws like
   * `connect`, and the abort reason.
   */
  probe(url: string, connect: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
  /**
   * Returns the time between key frames as far as the session of a URL has seen it, in seconds; undefined without a session. With `waits`, it waits for a
   * second key frame, for at most 11 s. Throws the abort reason.
   */
  keyFrameSeconds(url: string, waits: boolean, signal: AbortSignal): Promise<number | undefined>;
  /** Returns true if packets arrive in an open session. */
  isLive(url: string): boolean;
  /** Closes the session of a stream that could not be decoded: its captures have a connection each for ten minutes. */
  avoid(url: string): Promise<void>;
  /** Closes all sessions. */
  close(): Promise<void>;
};

/** Access units of a capture, with the codec and the clock of their track. */
export type SessionUnits = ReadUnits & SessionTrack;

type SessionTrack = { codec: NalRules['codec']; clockRate: number };

export type RtspSessionsDeps = {
  guard: EgressGuard;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  setTimer: SetTimer;
  /** Sessions that stay open without a capture. Beyond, a session ends with its capture. */
  maxKept: number;
  /** Timeout of each response, in milliseconds. */
  answerTimeoutMs?: number;
  /** Opens a session. Returns null for a codec that cannot be read from packets. */
  open?: OpenSession;
};

/** Session with the track that it plays. */
export type OpenedSession = { session: KeptSession; track: SessionTrack };
export type OpenSession = (url: string, signal: AbortSignal) => Promise<OpenedSession | null>;

/** Interval of captures up to which a session stays open: that of checks, with a reserve. */
const maxIntervalMs = 32_000;
const keepIdleMs = 35_000;
/** Time without a packet after which a session is replaced. */
const maxSilentMs = 5_000;
/** Wait for a key frame, as long as that of a capture with its own connection. */
const keyFrameWaitMs = 20_000;
/** Wait that proves that key frames are rare (`readSparseSeconds`). */
const measureMs = 11_000;
const openTimeoutMs = 15_000;
const avoidMs = 3_600_000;
/** A single damaged key frame may be the cause. */
const avoidBrieflyMs = 600_000;
const maxKnown = 2_000;
const maxSessionBytes = 32 * 1024 * 1024;
const maxBytesOfAll = 192 * 1024 * 1024;
/** 47 Mb/s in packets of 1400 bytes, more than a 4K camera of high quality. */
const rate = { maxBytesPerSecond: 8e6, maxBurstBytes: 32 * 1024 * 1024 };

type Entry = {
  url: string;
  opening: Promise<OpenedSession | null>;
  session: KeptSession | undefined;
  controller: AbortController;
  users: number;
  cancelTimer: () => void;
};

/** Captures of a URL: the newest one, and the time until which it has no session. */
type Known = { capturedMs: number; avoidedUntilMs: number };

/** Creates the sessions of a process. */
export function createRtspSessions(deps: RtspSessionsDeps): RtspSessions {
  const { elapsedMs, setTimer } = deps;
  const open = deps.open ?? createOpen(deps);
  const entries = new Map<string, Entry>();
  /** Sessions that are being closed: a camera with one session has none for the next one until then. */
  const closing = new Map<string, Promise<void>>();
  const probes = new Map<string, SharedCall<void>>();
  const known = new LRUCache<string, Known>({ max: maxKnown });
  let isClosed = false;
  return {
    read,
    probe,
    keyFrameSeconds: async (url, waits, signal) => {
      const session = entries.get(url)?.session;
      if (session === undefined) return undefined;
      const measuring = new AbortController();
      const either = AbortSignal.any([signal, measuring.signal]);
      try {
        if (waits) await waitAtMost(measureMs, session.measureKeyFrames(either), () => undefined, setTimer);
      } finally {
        measuring.abort();
      }
      return session.keyFrameSeconds();
    },
    isLive: (url) => isUsable(entries.get(url)?.session),
    avoid: async (url) => {
      note(url, { avoidedUntilMs: elapsedMs() + avoidBrieflyMs });
      await end(entries.get(url));
      await closing.get(url);
    },
    close: async () => {
      isClosed = true;
      for (const entry of entries.values()) void end(entry);
      await Promise.all(closing.values());
    },
  };

  async function read(request: CaptureRequest, signal: AbortSignal): Promise<SessionUnits | null> {
    const { url } = request;
    const before = known.get(url);
    const isFrequent = before === undefined || elapsedMs() - before.capturedMs <= maxIntervalMs;
    note(url, { capturedMs: elapsedMs() });
    if (isClosed || (before !== undefined && before.avoidedUntilMs > elapsedMs())) {
      await noneBeside(url);
      return null;
    }
    const existing = entries.get(url);
    if (existing?.session && !isUsable(existing.session)) void end(existing);
    const entry = entries.get(url) ?? begin(url);
    entry.users += 1;
    entry.cancelTimer();
    try {
      return await readFrom(entry, request, signal);
    } catch (error) {
      signal.throwIfAborted();
      // A session that ended between two captures is replaced in the second one.
      const isReplaced = existing === entry && error instanceof RtspConnectionError && !isClosed;
      void end(entry);
      if (isReplaced) return await read(request, signal);
      throw error instanceof RtspConnectionError ? noFrame(request, error) : error;
    } finally {
      entry.users -= 1;
      if (entry.users === 0) leave(entry, isFrequent);
    }
  }

  async function readFrom(
    entry: Entry,
    request: CaptureRequest,
    signal: AbortSignal,
  ): Promise<SessionUnits | null> {
    const opened = await waitUntilAborted(entry.opening, signal);
    if (opened === null) {
      note(entry.url, { avoidedUntilMs: elapsedMs() + avoidMs });
      await end(entry);
      return null;
    }
    const { session, track } = opened;
    const waiting = new AbortController();
    const waitMs = keyFrameWaitMs + (request.mode === 'frames' ? 0 : request.clipSeconds * 1000);
    try {
      const found = await waitAtMost<ReadUnits | null>(
        waitMs,
        session.read(request, AbortSignal.any([signal, waiting.signal])),
        () => null,
        setTimer,
      );
      if (found) return { ...found, ...track };
    } finally {
      waiting.abort();
    }
    if (session.silentMs() > maxSilentMs) {
      await end(entry);
      throw noFrame(request);
    }
    note(entry.url, { avoidedUntilMs: elapsedMs() + avoidMs });
    await end(entry);
    return null;
  }

  async function probe(
    url: string,
    connect: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    // A session that cannot be opened is no answer: the probe names the cause.
    const opening = entries.get(url)?.opening.catch(() => null);
    if (opening) await waitUntilAborted(opening, signal);
    if (isUsable(entries.get(url)?.session)) return;
    const closed = closing.get(url);
    if (closed) await closed;
    const shared = probes.get(url) ?? beginProbe(url, connect);
    await shared.join(signal);
  }

  function beginProbe(url: string, connect: (signal: AbortSignal) => Promise<void>): SharedCall<void> {
    const forgetProbe = (): void => void (probes.get(url) === shared && probes.delete(url));
    const shared = shareCall(connect, forgetProbe);
    probes.set(url, shared);
    shared.result.then(forgetProbe, forgetProbe);
    return shared;
  }

  /** Waits until no session is being closed and no probe is under way. */
  async function noneBeside(url: string): Promise<void> {
    await Promise.all([closing.get(url), probes.get(url)?.result.catch(() => undefined)]);
  }

  function begin(url: string): Entry {
    const controller = new AbortController();
    const before = noneBeside(url);
    const entry: Entry = {
      url,
      opening: before.then(() => open(url, controller.signal)),
      session: undefined,
      controller,
      users: 0,
      cancelTimer: () => undefined,
    };
    entry.opening.then(
      (opened) => (entry.session = opened?.session),
      () => forget(entry),
    );
    entries.set(url, entry);
    return entry;
  }

  function leave(entry: Entry, isFrequent: boolean): void {
    if (entries.get(entry.url) !== entry) return;
    if (!isFrequent || entries.size > deps.maxKept) return void end(entry);
    entry.cancelTimer = setTimer(() => void end(entry), keepIdleMs);
  }

  /** Closes the session of an entry, once. Later captures wait for it. */
  async function end(entry: Entry | undefined): Promise<void> {
    if (entry === undefined) return;
    if (forget(entry)) {
      const closed = closeSession(entry).finally(() => {
        if (closing.get(entry.url) === closed) closing.delete(entry.url);
      });
      closing.set(entry.url, closed);
    }
    await closing.get(entry.url);
  }

  async function closeSession(entry: Entry): Promise<void> {
    if (entry.session) return entry.session.close();
    entry.controller.abort(new RtspConnectionError('The session was closed'));
    const opened = await entry.opening.catch(() => null);
    await opened?.session.close();
  }

  function forget(entry: Entry): boolean {
    entry.cancelTimer();
    return entries.get(entry.url) === entry && entries.delete(entry.url);
  }

  function note(url: string, changes: Partial<Known>): void {
    known.set(url, { capturedMs: -Infinity, avoidedUntilMs: -Infinity, ...known.get(url), ...changes });
  }
}

function isUsable(session: KeptSession | undefined): boolean {
  return session !== undefined && !session.hasEnded() && session.silentMs() <= maxSilentMs;
}

function noFrame({ mode }: CaptureRequest, cause?: Error): StreamFetchError {
  return new StreamFetchError(
    cause instanceof RtspLimitError
      ? limitRemediation
      : 'The RTSP server sent no key frame, or closed the connection. Check that the stream plays in a video player, then try again.',
    failureMessage(mode),
    { cause },
  );
}

/** Returns a function that connects through the guard, with a limit on the rate instead of the sum of bytes. */
function createOpen({ guard, elapsedMs, answerTimeoutMs }: RtspSessionsDeps): OpenSession {
  const memory: SessionMemory = { maxBytes: maxBytesOfAll, usedBytes: 0 };
  return async (url, signal) => {
    const deadline = openDeadline(openTimeoutMs, signal);
    try {
      const admitsBytes = createByteRate({ ...rate, elapsedMs });
      const options = { guard, admitsBytes, ...(answerTimeoutMs !== undefined && { answerTimeoutMs }) };
      const stream = await describeRtsp(url, options, deadline.signal);
      const rules = nalRules(stream.track);
      if (rules === null) {
        stream.client.close();
        return null;
      }
      try {
        const session = await openKeptSession(stream, rules, {
          elapsedMs,
          memory,
          maxBytes: maxSessionBytes,
        });
        return { session, track: { codec: rules.codec, clockRate: stream.track.clockRate } };
      } catch (error) {
        stream.client.close();
        throw rtspStreamError(error, stream.target);
      }
    } finally {
      deadline.close();
    }
  };
}
