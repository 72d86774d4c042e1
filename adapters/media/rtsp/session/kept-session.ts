import { randomUUID } from 'node:crypto';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { waitUntilAborted } from '../../../../core/time-limit.ts';
import { createAccessUnitAssembler, type AccessUnit } from '../rtp/access-unit-assembler.ts';
import type { DescribedStream } from '../connection/describe.ts';
import { RtspConnectionError, RtspLimitError } from '../protocol/errors.ts';
import { createGopBuffer, type EndedGroup, type GopBuffer } from './gop-buffer.ts';
import type { SessionMemory } from './session-memory.ts';
import { computeKeepSeconds } from '../../clips/kept-stream.ts';
import { parsePosition } from '../../scan/measure-scan.ts';
import { createKeyFrameStore, type KeyFrameMemory, type KeyFramesSince } from './key-frame-store.ts';
import type { NalRules } from '../rtp/nal-units.ts';
import { setUpTrack } from '../connection/track-setup.ts';

/** RTSP session that plays between captures. It holds the newest GOPs undecoded, in bounded memory. */
export type KeptSession = Awaited<ReturnType<typeof openKeptSession>>;

/** Access units for one capture, in decoding order. */
export type ReadUnits = {
  units: readonly AccessUnit[];
  /** `key frame`: one access unit. `newest`: the last one is wanted. `clip`: their last seconds are. */
  kind: 'key frame' | 'newest' | 'clip';
  /** Age of the wanted frame, or of the last frame of a clip, in milliseconds. */
  ageMs: number;
  /** Key frames since the position of a request that looks back. */
  since?: KeyFramesSince & { sessionId: string; keyFrameSeconds: number };
};

export type KeptSessionDeps = {
  caller: string;
  elapsedMs: () => number;
  memory: SessionMemory;
  /** Key frames of all sessions for scans. */
  keyFrames: KeyFrameMemory;
  maxBytes: number;
  /** Receives the groups of pictures of a stream that has clips, at their end. */
  keepGroup?: ((group: EndedGroup) => void) | undefined;
};

/**
 * Age up to which a frame is new. A capture that opens a connection waits for the next key frame, and is as late after
 * a change as half of the usual GOP of 2 s.
 */
const maxAgeMs = 2_500;
/** Age up to which a frame is new, in distances of frames: a frame is complete when the next one arrives. */
const maxAgeInFrames = 1.5;
/** Decoding a longer GOP up to its newest frame takes longer than the wait for the next key frame. */
const maxGopUnits = 600;
/** Time for which captures at nearly the same time may have the same frame. */
const sharedMs = 500;
/** Time without a clip of a length after which the session keeps no more than shorter ones need, or one GOP. */
const keepClipMs = 40_000;
/** Time after a hole within which it is the reason that a clip, or a picture after another, is missing. */
const damageMs = 20_000;

/** Sets up the track and plays it. Closes the connection on failure. Throws like `setUpTrack`. */
export async function openKeptSession(
  stream: DescribedStream,
  rules: NalRules,
  { caller, elapsedMs, memory, keyFrames, maxBytes, keepGroup = () => undefined }: KeptSessionDeps,
) {
  const { client, track } = stream;
  const setup = await setUpTrack(stream);
  const assembler = createAccessUnitAssembler(track, rules);
  const buffer = createGopBuffer({ clockRate: track.clockRate, maxBytes });
  const ended = Promise.withResolvers<void>();
  let hasEnded = false;
  let endCause: unknown;
  let receivedBytes = 0;
  const change = createChange();
  let packetAtMs = elapsedMs();
  const begunMs = packetAtMs;
  /** Wait for the first key frame, which shows that they are at least as far apart. */
  let waitedSeconds = 0;
  let holeAtMs = -Infinity;
  /** Newest key frame. Undefined after the begin of a refresh. */
  let keyFrame: AccessUnit | undefined;
  const finder = createUnitsFinder(buffer, elapsedMs);
  const store = createKeyFrameStore(keyFrames, elapsedMs, caller);
  const sessionId = randomUUID().slice(0, 8);
  const groups = createGroupKeeper(elapsedMs, (group) => keepGroup({ ...group, sessionId }));
  const followers = new Set<(unit: AccessUnit) => void>();
  const heldBytes = () => (hasEnded ? 0 : buffer.bytes() + assembler.heldBytes());
  const keyFrameSeconds = () =>
    buffer.keyFrameDistance() ?? Math.max(waitedSeconds, buffer.secondsWithoutKeyFrame());
  const lacksDistance = () => !hasEnded && buffer.keyFrameDistance() === undefined;
  // It waits for its next key frame then.
  const countMemory = memory.join(caller, heldBytes, () => buffer.clear());

  client.onFrame((frame) => {
    if (!setup.isOurs(frame)) return;
    packetAtMs = elapsedMs();
    receivedBytes += frame.bytes.length;
    const unit = assembler.push(frame.bytes, packetAtMs);
    if (assembler.isDamaged()) holeAtMs = packetAtMs;
    if (unit !== null) {
      client.countProduced(Math.max(0, unit.bytes.length - receivedBytes));
      receivedBytes = 0;
      add(unit);
    }
    countMemory();
  });
  client.onEnd((cause) => {
    endCause = cause;
    const last = assembler.end();
    if (last !== null) add(last);
    hasEnded = true;
    countMemory();
    store.clear();
    ended.resolve();
    change.report();
  });
  await setup.play();
  return {
    read,
    /**
     * Waits for a second key frame, if there was none yet. Resolves at the end of the session too; throws the abort
     * reason.
     */
    measureKeyFrames: async (signal: AbortSignal): Promise<void> => {
      while (lacksDistance()) await change.next(signal);
    },
    /**
     * Calls `onKeyFrame` with each key frame that arrives. Resolves at the end of the session; throws the abort
     * reason.
     */
    follow: async (onKeyFrame: (unit: AccessUnit) => void, signal: AbortSignal): Promise<void> => {
      const follower = (unit: AccessUnit): void => onKeyFrame(unit);
      followers.add(follower);
      await waitUntilAborted(ended.promise, signal).finally(() => followers.delete(follower));
    },
    /** Time between key frames as far as the session has seen it, in seconds. */
    keyFrameSeconds,
    /**
     * Returns true if packets are missing since the newest key frame; `isLong`: also of the time before, for what
     * one key frame does not show.
     */
    isDamaged: (isLong?: boolean): boolean =>
      assembler.isDamaged() || (isLong === true && elapsedMs() - holeAtMs < damageMs),
    /** Time since the newest packet, in milliseconds. */
    silentMs: () => elapsedMs() - packetAtMs,
    hasEnded: () => hasEnded,
    close,
  };

  function add(unit: AccessUnit): void {
    finder.keepLongestClip();
    if (buffer.bytes() === 0 && waitedSeconds === 0) waitedSeconds = (unit.arrivedMs - begunMs) / 1000;
    const isRefresh = !unit.isKeyFrame && unit.recoveryFrames !== undefined;
    if (unit.isKeyFrame) {
      groups.end(buffer.newestGop(), unit);
      store.add(unit, buffer.newestGop());
    }
    if (isRefresh) store.skip();
    if (unit.isKeyFrame || isRefresh) keyFrame = unit.isKeyFrame ? unit : undefined;
    buffer.add(unit);
    change.report();
    if (unit.isKeyFrame) for (const follower of followers) follower(unit);
  }

  /**
   * Waits until the session has what the capture needs, without an access unit that an earlier capture returned, or
   * up to `after`. Throws `RtspConnectionError` if the session ends before, and the abort reason.
   */
  async function read(request: CaptureRequest, signal: AbortSignal, after?: AccessUnit): Promise<ReadUnits> {
    groups.note(request);
    if (request.lookBack) store.begin(keyFrame);
    for (;;) {
      const { mode, clipSeconds } = request;
      const media = mode === 'frames' ? finder.findFrame(after) : finder.findClip(clipSeconds, after);
      if (media)
        return request.lookBack ? { ...media, since: keyFramesSince(request.lookBack.since) } : media;
      if (hasEnded) throw toEndError(endCause);
      await change.next(signal);
    }
  }

  function keyFramesSince(text: string | null): NonNullable<ReadUnits['since']> {
    const stored = store.since(parseKeyFrame(text, sessionId));
    const gop = buffer.newestGop();
    const newest = { number: stored.newest, units: gop[0] === keyFrame ? [...gop] : [] };
    return { ...stored, groups: [...stored.groups, newest], sessionId, keyFrameSeconds: keyFrameSeconds() };
  }

  /** Sends TEARDOWN. Resolves once the connection is closed, so that a camera with one session has a free one. */
  async function close(): Promise<void> {
    setup.leave();
    await ended.promise;
  }
}

/** Time without a capture of a stream with clips after which its groups are not kept. */
const keepGroupsMs = 80_000;

/** Numbers the groups of pictures of a session, and hands on those that a clip may need. */
function createGroupKeeper(elapsedMs: () => number, keep: (group: Omit<EndedGroup, 'sessionId'>) => void) {
  let number = 0;
  let wanted = { untilMs: -Infinity, seconds: 0 };
  return {
    note({ clipBeforeSeconds }: CaptureRequest): void {
      if (clipBeforeSeconds === undefined) return;
      const isWanted = elapsedMs() < wanted.untilMs;
      const seconds = Math.max(isWanted ? wanted.seconds : 0, computeKeepSeconds(clipBeforeSeconds));
      wanted = { untilMs: elapsedMs() + Math.max(keepGroupsMs, seconds * 1000), seconds };
    },
    end(units: readonly AccessUnit[], next: AccessUnit): void {
      if (units.length > 0 && elapsedMs() < wanted.untilMs)
        keep({ units, number, endedMs: next.arrivedMs, keepSeconds: wanted.seconds });
      number += 1;
    },
  };
}

function toEndError(cause: unknown): Error {
  return cause instanceof RtspLimitError
    ? cause
    : new RtspConnectionError('RTSP server closed the connection');
}

/** Returns the number of the key frame in a position of the session; null for another position. */
function parseKeyFrame(text: string | null, sessionId: string): number | null {
  const position = parsePosition(text);
  const isOurs = position?.rendition === sessionId && /^\d+(\+\d+)?$/.test(position.segment);
  return isOurs ? Number.parseInt(position.segment, 10) : null;
}

type Change = { report(): void; next(signal: AbortSignal): Promise<void> };

function createChange(): Change {
  let change: PromiseWithResolvers<void> | undefined;
  return {
    report() {
      change?.resolve();
      change = undefined;
    },
    next: (signal) => waitUntilAborted((change ??= Promise.withResolvers<void>()).promise, signal),
  };
}

function follows(unit: AccessUnit | undefined, after: AccessUnit): boolean {
  return unit !== undefined && unit !== after && unit.arrivedMs >= after.arrivedMs;
}

/** Creates the finder of units in the buffer of a session that are new to its captures. */
function createUnitsFinder(buffer: GopBuffer, elapsedMs: () => number) {
  /**
   * Time of the newest capture by length of its clip, in seconds: jobs of one camera have clips of different lengths.
   */
  const clips = new Map<number, number>();
  let lastRead: { unit: AccessUnit; atMs: number } | undefined;
  return { findFrame, findClip, keepLongestClip };

  /** Keeps what the clips of the last time need. */
  function keepLongestClip(): void {
    for (const [seconds, atMs] of clips) if (elapsedMs() - atMs > keepClipMs) clips.delete(seconds);
    buffer.keep(Math.max(0, ...clips.keys()));
  }

  /**
   * Returns a new frame: the newest key frame, or the GOP up to a newer one; with `after`, of a key frame after
   * that unit.
   */
  function findFrame(after: AccessUnit | undefined): ReadUnits | undefined {
    const gop = buffer.newestGop();
    const [keyFrame] = gop;
    if (after && !follows(keyFrame, after)) return undefined;
    if (keyFrame?.isKeyFrame && isNew(keyFrame)) return taken([keyFrame], 'key frame');
    const newest = gop.at(-1);
    return newest && gop.length <= maxGopUnits && isNew(newest) ? taken(gop, 'newest') : undefined;
  }

  /** Returns a new clip of a length in seconds, for which the buffer keeps as much from now on. */
  function findClip(seconds: number, after: AccessUnit | undefined): ReadUnits | undefined {
    clips.set(seconds, elapsedMs());
    const units = buffer.lastSeconds(seconds);
    if (after && !follows(units?.[0], after)) return undefined;
    const newest = units?.at(-1);
    return units && newest && isNew(newest) ? taken(units, 'clip') : undefined;
  }

  /** An access unit that an earlier capture returned is no news, for example for a check that confirms another. */
  function isNew(unit: AccessUnit): boolean {
    const slowAgeMs = buffer.newestDistanceMs() * maxAgeInFrames;
    if (elapsedMs() - unit.arrivedMs > Math.max(maxAgeMs, slowAgeMs)) return false;
    if (lastRead === undefined || elapsedMs() - lastRead.atMs <= sharedMs) return true;
    return unit !== lastRead.unit && unit.arrivedMs >= lastRead.unit.arrivedMs;
  }

  function taken(units: readonly AccessUnit[], kind: ReadUnits['kind']): ReadUnits | undefined {
    const unit = units.at(-1);
    if (unit === undefined) return undefined;
    const atMs = elapsedMs();
    if (lastRead === undefined || unit.arrivedMs > lastRead.unit.arrivedMs) lastRead = { unit, atMs };
    return { units, kind, ageMs: atMs - unit.arrivedMs };
  }
}
