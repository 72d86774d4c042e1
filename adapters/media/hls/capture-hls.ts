import type { Capture, CaptureRequest, StreamProbe } from '../../../core/records/capture.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { NotLiveError, StreamFetchError, StreamPausedError } from '../../../core/errors.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import type { FfmpegInput, FfmpegOutput, FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { chooseSegments, markGap } from './choose-segments.ts';
import { fetchMediaPlaylist, PlaylistGoneError } from './fetch-playlist.ts';
import { fetchSegments, drmError, SegmentMissingError } from './fetch-segments.ts';
import { findPlaylist } from './find-playlist.ts';
import { createKeyFrameTracker } from './key-frame-tracker.ts';
import type { KeyFrameTracker } from './key-frame-tracker.ts';
import { extractLastKeyFrame } from './extract-last-key-frame.ts';
import { clipEndPtsSeconds, trimToLastSeconds } from './trim-transport-stream.ts';
import { classifyLiveness } from './liveness.ts';
import { createPlaylistBudget, type PlaylistBudget } from './playlist-budget.ts';
import { createPlaylistCache, type CachedPlaylist } from './playlist-cache.ts';
import type { LocatedPlaylist, PlaylistSource } from './playlist-source.ts';
import type { MediaPlaylist, Segment } from './playlist.ts';
import { createResourceCache } from './resource-cache.ts';
import { segmentFormat } from './segment-format.ts';
import { streamPosition } from './stream-position.ts';
import { captureTime } from './capture-time.ts';

/** Limits of one HLS capture. */
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

/**
 * Maximum segments added to reach a key frame. A GOP is rarely longer than 10 s, and a segment rarely shorter than
 * 2 s.
 */
const maxOlderSegments = 5;

/** Maximum listed but missing segments per capture; one more is a failure. */
const maxMissingSegments = 2;

/** Creates a capturer for HLS. `capture` throws `StreamEndedError` if the playlist has ended. */
export function createHlsCapturer(deps: {
  http: GuardedHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Shared by all capturers of a process; one of its own by default. */
  budget?: PlaylistBudget;
  limits?: Partial<HlsLimits>;
  /** If absent, the URL of the request is the playlist URL. */
  source?: PlaylistSource;
}): StreamCapturer {
  const limits = { ...defaultLimits, ...deps.limits };
  const { source } = deps;
  const keepMs = source ? Infinity : 10 * 60_000;
  const resources = createResourceCache({ now: deps.now, max: 1000, keepMs: 10 * 60_000 });
  const fetcher = {
    http: deps.http,
    budget: deps.budget ?? createPlaylistBudget(),
    ...limits,
    resources,
    ...(source?.prepare && { prepare: source.prepare }),
  };
  const playlists = createPlaylistCache({ now: deps.now, max: 1000, keepMs });
  const finder = { fetcher, locate, asksSource: source !== undefined };
  return { probe, capture };

  async function probe(url: string, signal: AbortSignal): Promise<StreamProbe> {
    const { url: entryUrl } = await locate(url, false, signal);
    const playlist = await fetchMediaPlaylist(fetcher, entryUrl, 'frames', signal).catch((error: unknown) => {
      throw error instanceof PlaylistGoneError
        ? new NotLiveError(error.remediation, 'Stream is offline', { cause: error })
        : error;
    });
    if (classifyLiveness(playlist) !== 'live') {
      throw new NotLiveError(
        'The playlist belongs to a recording or to a broadcast that has ended. Use the URL of a live stream.',
      );
    }
    if (playlist.segments.at(-1)?.key?.method === 'unsupported') throw drmError();
    return { platform: 'hls', playbackUrl: withoutCredentials(url) };
  }

  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    const key = `${request.mode === 'frames' ? 'frames' : 'clip'} ${request.url}`;
    if (request.resolveAgain) playlists.delete(key);
    const remembered = playlists.get(key);
    try {
      const { playlist, freshUntil } = await findPlaylist(finder, request, remembered, signal);
      const known = { mediaUrl: playlist.url, freshUntil };
      if (playlist.paused) {
        playlists.set(key, { ...known, olderSegments: remembered?.olderSegments ?? 0 });
        throw new StreamPausedError();
      }
      const { capture, olderSegments } = await captureFrom(playlist, request, remembered, signal);
      const { segment } = capture.position;
      const mayHaveMoved = !source && playlist.url !== request.url && segment === remembered?.segment;
      if (mayHaveMoved) playlists.delete(key);
      else playlists.set(key, { ...known, olderSegments, segment });
      return capture;
    } catch (error) {
      // Requesting another playlist would only start another advertisement.
      if (!(error instanceof StreamPausedError)) playlists.delete(key);
      throw error;
    }
  }

  async function locate(url: string, again: boolean, signal: AbortSignal): Promise<LocatedPlaylist> {
    return source ? source.locate(url, again, signal) : { url, freshUntil: null };
  }

  /** Falls back to the previous segment if the newest one is missing. */
  async function captureFrom(
    playlist: MediaPlaylist,
    request: CaptureRequest,
    remembered: CachedPlaylist | undefined,
    signal: AbortSignal,
  ): Promise<{ capture: Capture; olderSegments: number }> {
    let left = playlist;
    for (let missing = 0; ; missing += 1) {
      try {
        return await captureKeyFrame(left, request, remembered, signal);
      } catch (error) {
        if (!(error instanceof SegmentMissingError) || missing === maxMissingSegments) throw error;
        left = markGap(left, error.sequence);
        if (left.segments.every(({ gap }) => gap)) throw error;
      }
    }
  }

  /** Retries once with older segments if the newest ones have no key frame. */
  async function captureKeyFrame(
    playlist: MediaPlaylist,
    request: CaptureRequest,
    remembered: CachedPlaylist | undefined,
    signal: AbortSignal,
  ): Promise<{ capture: Capture; olderSegments: number }> {
    const firstTry = remembered?.olderSegments ?? 0;
    const segments = chooseSegments(playlist, { ...request, olderSegments: firstTry });
    try {
      return { capture: await captureSegments(playlist, segments, request, signal), olderSegments: firstTry };
    } catch (error) {
      const more = chooseSegments(playlist, { ...request, olderSegments: maxOlderSegments });
      if (!(error instanceof NoFrameDecodedError) || more.length <= segments.length) throw error;
      const capture = await captureSegments(playlist, more, request, signal);
      return { capture, olderSegments: maxOlderSegments };
    }
  }

  async function captureSegments(
    playlist: MediaPlaylist,
    segments: Segment[],
    request: CaptureRequest,
    signal: AbortSignal,
  ): Promise<Capture> {
    const newest = segments.at(-1);
    if (newest === undefined) throw nothingYet();
    const clock = createKeyFrameTracker(segments);
    const pictures = await decode(segments, clock, request, signal);
    return {
      ...pictures,
      capturedAt: captureTime(newest, request.mode, deps.now(), clock.lastKeyFrameAt()),
      position: streamPosition(newest, playlist),
    };
  }

  /** Decodes the segments. Aborts pending downloads when ffmpeg has enough input. */
  async function decode(
    segments: Segment[],
    clock: KeyFrameTracker,
    request: CaptureRequest,
    signal: AbortSignal,
  ): Promise<FfmpegOutput> {
    const enough = new AbortController();
    const chunks = clock.watch(fetchSegments(fetcher, segments, AbortSignal.any([signal, enough.signal])));
    try {
      const input = await createInput(chunks, segments, request);
      return await deps.ffmpeg.run(input, request, { timeoutMs: limits.decodeTimeoutMs }, signal);
    } catch (error) {
      segments.forEach(forgetResources);
      throw error;
    } finally {
      enough.abort();
    }
  }

  function forgetResources({ key, initialization }: Segment): void {
    if (key?.method === 'AES-128') resources.delete({ url: key.url, byteRange: null });
    if (initialization !== null) resources.delete(initialization);
  }
}

/**
 * Reduces the input to the bytes that ffmpeg needs, if they can be located. Otherwise ffmpeg reads while segments
 * arrive.
 */
async function createInput(
  chunks: AsyncIterable<Uint8Array>,
  segments: Segment[],
  request: CaptureRequest,
): Promise<FfmpegInput> {
  const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  const input = { kind: 'pipe', format: segmentFormat(segments[0]), chunks, seconds } as const;
  if (input.format !== 'mpegts') return input;
  // With several segments, the last one may hold no complete key frame.
  if (request.mode === 'frames')
    return segments.length === 1 ? { ...input, chunks: lastKeyFrames(chunks) } : input;
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const clip = trimToLastSeconds(Buffer.concat(parts), request.clipSeconds);
  if (clip === null) return { ...input, chunks: parts };
  return { ...input, chunks: [clip], endsAtSeconds: clipEndPtsSeconds };
}

async function* lastKeyFrames(segments: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const segment of segments) yield extractLastKeyFrame(segment) ?? segment;
}

function nothingYet(): StreamFetchError {
  return new StreamFetchError('The playlist has no segments yet. Try again in a few seconds.');
}

function withoutCredentials(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
