import { setTimeout } from 'node:timers/promises';
import type {
  Capture,
  CaptureRequest,
  FollowRequest,
  InputMode,
  StreamProbe,
} from '../../../core/records/capture.ts';
import type { ClipRequest } from '../../../core/records/clip.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { StreamPausedError, NotLiveError } from '../../../core/errors.ts';
import { secondsBehind } from '../../../core/sight/moment-time.ts';
import { createCookieJars } from '../../egress/cookies.ts';
import type { CallerStream } from '../../caller-stream.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import type { JoinClip } from '../clips/join-clip.ts';
import { computeKeepSeconds, type KeptStreams } from '../clips/kept-stream.ts';
import type { FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { captureLiveEdge } from './capture-live-edge.ts';
import { createClipReader, toPart } from './clip-hls.ts';
import { withKeyFrames } from './capture-segments.ts';
import {
  findPlaylist,
  type LocatePlaylist,
  type PlaylistSource,
  createPlaylistCache,
} from './playlist/find-playlist.ts';
import { type MediaPlaylist, classifyLiveness } from './playlist/playlist.ts';
import { createPlaylistBudget, type PlaylistBudget } from './playlist/playlist-budget.ts';
import { createResourceCache, drmError } from './segments/fetch-segments.ts';
import { scanHls, type ScanHlsDeps } from './scan/scan-hls.ts';
import { streamPosition, withoutContent } from './segments/stream-position.ts';
import { fetchMediaPlaylist, PlaylistGoneError, type PlaylistFetcher } from './playlist/fetch-playlist.ts';

export type HlsLimits = {
  playlistBytes: number;
  /** Maximum bytes of all segments of a capture. */
  captureBytes: number;
  requestTimeoutMs: number;
  /**
   * Time from the start of ffmpeg to its result. Includes the download of segments if ffmpeg reads them while they
   * arrive.
   */
  decodeTimeoutMs: number;
};

const defaultLimits: HlsLimits = {
  // Fits a DVR window of a day with long signed URLs.
  playlistBytes: 8 * 1024 * 1024,
  captureBytes: 32 * 1024 * 1024,
  requestTimeoutMs: 10_000,
  decodeTimeoutMs: 25_000,
};

const maxCacheEntries = 1000;
const cacheMs = 10 * 60_000;

export type HlsCapturerDeps = {
  http: GuardedHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Monotonic clock, in milliseconds. Default: that of the process. */
  elapsedMs?: () => number;
  /** Waits between two requests of a stream that is followed, or whose short playlist is read on. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Shared by all capturers of a process. Default: a separate budget. */
  budget?: PlaylistBudget;
  limits?: Partial<HlsLimits>;
  /** Keeps streams for clips, and joins them. Absent on hosts that make none. */
  clips?: { kept: KeptStreams; join: JoinClip } | undefined;
  /** If absent, the URL of the request is the playlist URL. */
  source?: PlaylistSource;
};

/** Creates a capturer for HLS. `capture` throws `StreamEndedError` if the playlist has ended. */
export function createHlsCapturer(deps: HlsCapturerDeps): StreamCapturer {
  const { http, ffmpeg, now, source, clips, budget = createPlaylistBudget() } = deps;
  const { elapsedMs = () => performance.now(), wait = sleep } = deps;
  const limits = { ...defaultLimits, ...deps.limits };
  const findResources = createResourceCache({ now, max: maxCacheEntries, keepMs: cacheMs });
  const prepare = source?.prepare && { prepare: source.prepare };
  const findCookies = createCookieJars({ max: maxCacheEntries, now });
  const shared = { http, budget, ...limits, ...prepare };
  const locate: LocatePlaylist = source?.locate ?? (async ({ url }) => ({ url, freshUntil: null }));
  const asksSource = source !== undefined;
  const { decodeTimeoutMs } = limits;
  const playlists = createPlaylistCache({ now, max: maxCacheEntries, keepMs: source ? Infinity : cacheMs });
  return {
    probe: async (url, signal, caller) =>
      probeHls(findReading({ url, caller }).finder, { url, caller }, signal),
    capture,
    follow,
    ...(clips && { clip: createClipReader(clips, now, readPlaylist) }),
  };

  function findReading({ url, caller }: CallerStream) {
    const fetcher = {
      ...shared,
      caller,
      cookies: findCookies(caller, url),
      resources: findResources(caller, url),
    };
    return {
      finder: { fetcher, locate, asksSource },
      edge: { fetcher, ffmpeg, now, elapsedMs, wait, decodeTimeoutMs },
      scanDeps: { fetcher, ffmpeg, now, elapsedMs },
    };
  }

  async function follow(
    { url, caller, after }: FollowRequest,
    onFrame: (thumbnail: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const request = { url, caller, mode: 'frames', clipSeconds: 0, resolveAgain: false } as const;
    const cached = playlists.get(caller, nameRendition('frames', url));
    const olderSegments = cached?.olderSegments ?? 0;
    const { finder, edge } = findReading(request);
    const fetchPlaylist = async () => (await findPlaylist(finder, request, cached, signal)).playlist;
    const captureNewest = async (playlist: MediaPlaylist) => {
      const { capture } = await captureLiveEdge(edge, playlist, olderSegments, request, signal);
      return capture.thumbnail;
    };
    await followHls({ fetchPlaylist, capture: captureNewest, wait }, { after }, onFrame, signal);
  }

  /** Returns the name of a stream in its rendition, and what reads it. */
  function readPlaylist({ url, caller, mode }: ClipRequest) {
    const key = nameRendition(mode, url);
    const { finder } = findReading({ url, caller });
    const request = { url, caller, mode, clipSeconds: 0, resolveAgain: false };
    const fetchPlaylist = async (signal: AbortSignal) =>
      (await findPlaylist(finder, request, playlists.get(caller, key), signal)).playlist;
    return { key, fetcher: finder.fetcher, fetchPlaylist };
  }

  function keepFor(
    { caller, clipBeforeSeconds }: CaptureRequest,
    key: string,
    behindSeconds: number,
  ): ScanHlsDeps['keep'] {
    if (clipBeforeSeconds === undefined) return undefined;
    const keepSeconds = computeKeepSeconds(clipBeforeSeconds) + behindSeconds;
    return (playlist, read, startMs) =>
      clips?.kept.add(caller, key, toPart(playlist, read.segment, startMs, { ...read, keepSeconds }));
  }

  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    const { caller } = request;
    const begunAt = now();
    const key = nameRendition(request.mode, request.url);
    if (request.resolveAgain) playlists.delete(caller, key);
    const cached = playlists.get(caller, key);
    const knownOlder = cached?.olderSegments ?? 0;
    const { finder, edge, scanDeps } = findReading(request);
    try {
      const { playlist, freshUntil } = await findPlaylist(finder, request, cached, signal);
      const { rendition } = playlist;
      const facts = { mediaUrl: playlist.url, rendition, freshUntil };
      if (playlist.paused) {
        playlists.set(caller, key, { ...facts, olderSegments: knownOlder });
        throw new StreamPausedError();
      }
      const captured = await captureLiveEdge(edge, playlist, knownOlder, request, signal);
      const { capture: newestCapture, olderSegments } = captured;
      const { segment } = captured.newest;
      const mayHaveMoved = !source && playlist.url !== request.url && segment === cached?.segment;
      if (mayHaveMoved) playlists.delete(caller, key);
      else playlists.set(caller, key, { ...facts, olderSegments, segment });
      if (!request.lookBack) return newestCapture;
      const keep = keepFor(request, key, secondsBehind(newestCapture.capturedAt, begunAt));
      const scanned = await scanHls(
        { ...scanDeps, keep },
        { ...captured, playlist },
        rendition,
        request,
        signal,
      );
      const { scan, position, newest } = scanned;
      const seen = scan.isSeen
        ? withKeyFrames(newestCapture.position, newestCapture.keyFrameSeconds)
        : newestCapture.position;
      return {
        ...newestCapture,
        ...newest,
        scan,
        position: { ...seen, ...(position && { scan: position }) },
      };
    } catch (error) {
      // Requesting another playlist would only start another advertisement.
      if (!(error instanceof StreamPausedError)) playlists.delete(caller, key);
      throw error;
    }
  }
}

/** A clip needs the rendition with motion, a frame the one of its size. */
function nameRendition(mode: InputMode, url: string): string {
  return `${mode === 'frames' ? 'frames' : 'clip'} ${url}`;
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal });
}

type FollowHlsDeps = {
  fetchPlaylist: (signal: AbortSignal) => Promise<MediaPlaylist & { paused: boolean }>;
  /** Returns the thumbnail of the last key frame of a playlist. */
  capture: (playlist: MediaPlaylist, signal: AbortSignal) => Promise<Uint8Array>;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Waits for a segment: as long as it takes, then half of that. Bounds in seconds. */
const waits = { min: 0.5, max: 10 };

/**
 * Follows a playlist: fetches each new segment once, as a player does. Throws like `capture` of a stream, and the abort
 * reason.
 */
async function followHls(
  { fetchPlaylist, capture, wait }: FollowHlsDeps,
  { after }: Pick<FollowRequest, 'after'>,
  onFrame: (thumbnail: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = after?.segment ? withoutContent(after.segment) : null;
  for (;;) {
    const playlist = await fetchPlaylist(signal);
    const newest = playlist.segments.findLast(({ gap }) => !gap);
    const position = newest && streamPosition(newest, playlist);
    const isNew = position !== undefined && position.segment !== seen && !playlist.paused;
    if (isNew) {
      seen = position.segment;
      onFrame(await capture(playlist, signal));
    }
    const seconds = (newest?.durationSeconds ?? waits.max) / (isNew ? 1 : 2);
    await wait(Math.min(Math.max(seconds, waits.min), waits.max) * 1000, signal);
  }
}

type ProbeHlsDeps = { fetcher: PlaylistFetcher; locate: LocatePlaylist };

/** Checks that the stream of a URL is live and can be decrypted. Throws `StreamError`. */
async function probeHls(deps: ProbeHlsDeps, stream: CallerStream, signal: AbortSignal): Promise<StreamProbe> {
  const { url: entryUrl } = await deps.locate(stream, false, signal);
  const playlist = await fetchMediaPlaylist(deps.fetcher, entryUrl, 'frames', signal).catch(
    (error: unknown) => {
      throw error instanceof PlaylistGoneError
        ? new NotLiveError(error.remediation, 'Stream is offline', { cause: error })
        : error;
    },
  );
  if (classifyLiveness(playlist) !== 'live') {
    throw new NotLiveError(
      'The playlist belongs to a recording or to a broadcast that has ended. Use the URL of a live stream.',
    );
  }
  if (playlist.segments.at(-1)?.key?.method === 'unsupported') throw drmError();
  return { platform: 'hls', playbackUrl: withoutCredentials(stream.url) };
}

function withoutCredentials(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
