import { detectPlatform, streamSchemes } from '../../core/records/platform.ts';
import type { ScanningCapturer, StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { ClipResult, ClipRequest } from '../../core/records/clip.ts';
import type { EgressGuard } from '../egress/guard.ts';
import type { GuardedHttp, StreamingHttp } from '../egress/guarded-http.ts';
import { loadOnce } from '../load-once.ts';
import { defaultPlatformSettings, type PlatformSettings } from '../platforms/platform-settings.ts';
import { createReloadingPlatforms } from '../platforms/reloading-platforms.ts';
import type { JoinClip } from './clips/join-clip.ts';
import type { KeptStreams } from './clips/kept-stream.ts';
import type { FfmpegRunner } from './ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from './hls/capture-hls.ts';
import { createPlaylistBudget } from './hls/playlist/playlist-budget.ts';
import { createRtspCapturer } from './rtsp/capture-rtsp.ts';
import type { RtspSessions } from './rtsp/session/rtsp-sessions.ts';
import { framePictures } from './scan/frame-pictures.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidUrlError, NotLiveError, StreamFetchError, type StreamError } from '../../core/errors.ts';
import type { CaptureRequest, StreamProbe } from '../../core/records/capture.ts';
import type { CallerStream } from '../caller-stream.ts';
import { createFairByteCache } from '../byte-cache.ts';
import { createCookieJars } from '../egress/cookies.ts';
import type { ClipDeps } from './clips/read-clip.ts';
import { recordOn } from './clips/record-on.ts';
import type { PictureDeps } from './pictures/capture-pictures.ts';
import { defaultPictureLimits, type PictureLimits } from './pictures/picture-limits.ts';
import { createOpenAuthenticated } from './web/open-authenticated.ts';
import { openWebStream, VideoFileError, WebStreamGoneError, type WebStream } from './web/open-stream.ts';
import type { WebContent } from './web/sniff-content.ts';

export type StreamCapturerDeps = {
  guard: EgressGuard;
  http: GuardedHttp & StreamingHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  hlsLimits?: Partial<HlsLimits>;
  /** Absent on hosts that make no clips. */
  clips?: { kept: KeptStreams; join: JoinClip } | undefined;
  /** Sessions that stay open between captures, on one machine. */
  rtspSessions?: RtspSessions | undefined;
  /**
   * Platform settings. By default the public platforms without an account; a function if they may change
   * (`createReloadingPlatforms`).
   */
  platforms?: PlatformSettings | (() => Promise<PlatformSettings>);
};

const noClips: ClipResult = { kind: 'none', reason: 'Streams of this kind have no clips' };

/**
 * Creates a capturer for all kinds of stream URLs (`detectPlatform`). Throws `InvalidUrlError` if the guard rejects a
 * URL.
 */
export function createStreamCapturer(deps: StreamCapturerDeps): ScanningCapturer {
  const { platforms = defaultPlatformSettings, hlsLimits: limits = {} } = deps;
  const budget = createPlaylistBudget();
  const load = loadOnce(async () => import('../platforms/create-platforms.ts'));
  const make = async (settings: PlatformSettings) =>
    (await load()).createPlatforms(settings, { ...deps, budget, limits, random: Math.random });
  const read = typeof platforms === 'function' ? platforms : async () => platforms;
  const hls = createHlsCapturer({ ...deps, budget, limits });
  const web = createWebCapturer({ ...deps, hls });
  const capturers = {
    hls: web,
    jpeg: web,
    mjpeg: web,
    mpegts: web,
    rtsp: createRtspCapturer({ ...deps, sessions: deps.rtspSessions }),
    ...createReloadingPlatforms(read, make),
  };
  return {
    probe: async (url, ...rest) => capturerFor(url).probe(url, ...rest),
    capture: async (request, signal) => capturerFor(request.url).capture(request, signal),
    follow: async (request, ...rest) => capturerFor(request.url).follow?.(request, ...rest),
    ...(deps.clips && {
      clip: async (request, signal) => (await capturerFor(request.url).clip?.(request, signal)) ?? noClips,
    }),
    ...framePictures,
  };

  function capturerFor(text: string): StreamCapturer {
    return capturers[detectPlatform(deps.guard.check(text, streamSchemes).href)];
  }
}

export type WebCapturerDeps = {
  http: StreamingHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Monotonic clock, in milliseconds. Default: that of the process. */
  elapsedMs?: () => number;
  /** Captures playlists. */
  hls: StreamCapturer;
  pictureLimits?: Partial<PictureLimits>;
  /** Absent on hosts that make no clips. */
  clips?: Pick<ClipDeps, 'join'> | undefined;
};

const singlePictures: ClipResult = { kind: 'none', reason: 'Single pictures have no clips' };
/** Longest clip after an opening, with the wait for its key frame, in seconds. */
const maxClipSeconds = 40;

const [maxPlaylists, maxBytes] = [1000, 2 * 1024 * 1024];

/** Most streams are playlists, which a function on AWS captures without these. */
const loadPictures = loadOnce(async () => import('./pictures/capture-pictures.ts'));
const loadTsStream = loadOnce(async () => import('./ts-stream/capture-ts-stream.ts'));

/**
 * Creates a capturer for web addresses, by the content of their response: a JPEG, Motion JPEG, MPEG-TS or an HLS
 * playlist. An address that ends like a playlist is one. For any other, the content decides at each capture; that it is
 * a playlist is known until a failure.
 */
export function createWebCapturer(deps: WebCapturerDeps): StreamCapturer {
  const { hls, ffmpeg, now, clips, elapsedMs = () => performance.now() } = deps;
  const limits = { ...defaultPictureLimits, ...deps.pictureLimits };
  const tsStream = { ffmpeg, now, elapsedMs };
  const pictures: PictureDeps = { ffmpeg, now, elapsedMs, limits };
  const open = createOpenAuthenticated(deps.http, () => randomBytes(8).toString('hex'));
  const playlists = createFairByteCache<true>({
    name: 'addresses of playlists',
    max: maxPlaylists,
    maxBytes,
  });
  const findCookies = createCookieJars({ max: maxPlaylists, now });
  return {
    probe: (url, signal, caller) =>
      read({ url, caller }, 0, signal, {
        hls: () => hls.probe(url, signal, caller),
        other: (opened) => probeOther(opened, url, signal),
      }).catch((error: unknown) => {
        throw error instanceof WebStreamGoneError
          ? new NotLiveError(error.remediation, 'Stream is offline', { cause: error })
          : error;
      }),
    capture: (request, signal) =>
      read(request, request.mode === 'frames' ? 0 : request.clipSeconds, signal, {
        hls: () => hls.capture(request, signal),
        other: (opened) => captureOther(opened, request, signal),
      }),
    ...(clips && {
      clip: (request, signal) =>
        read(request, maxClipSeconds, signal, {
          hls: async () => (await hls.clip?.(request, signal)) ?? singlePictures,
          other: (opened) => clipOther(opened, request, signal),
        }),
    }),
    // Only a playlist is followed: a capture has found that it is one.
    follow: async (request, ...rest) => {
      if (isPlaylist(request.url) || playlists.get(request.caller, request.url))
        await hls.follow?.(request, ...rest);
    },
  };

  /** Reads a playlist by `hls`, else the opened response by `other`. */
  async function read<Result>(
    { url, caller }: CallerStream,
    seconds: number,
    signal: AbortSignal,
    by: { hls: () => Promise<Result>; other: (opened: Opened) => Promise<Result> },
  ): Promise<Result> {
    if (isPlaylist(url)) return by.hls();
    if (playlists.get(caller, url)) return readPlaylist({ url, caller }, by.hls);
    const timeoutMs = limits.pictureMs + seconds * 1000;
    const options = { timeoutMs, signal, caller, cookies: findCookies(caller, url) };
    const reopen = () => openWebStream(open, url, options);
    const stream = await openAgain(reopen, signal);
    try {
      if (stream.content !== 'hls') return await by.other({ stream, reopen });
    } finally {
      stream.close();
    }
    return readPlaylist({ url, caller }, by.hls);
  }

  async function readPlaylist<Result>(
    { url, caller }: CallerStream,
    work: () => Promise<Result>,
  ): Promise<Result> {
    playlists.set(caller, url, true);
    try {
      return await work();
    } catch (error) {
      playlists.delete(caller, url);
      throw error;
    }
  }

  async function probeOther(opened: Opened, url: string, signal: AbortSignal): Promise<StreamProbe> {
    const playbackUrl = withoutCredentials(url);
    switch (opened.stream.content) {
      case 'jpeg':
        await (await loadPictures()).probeSnapshot(opened, pictures, signal);
        return { platform: 'jpeg', playbackUrl, framesOnly: true };
      case 'motion-jpeg': {
        const hasClips = await (await loadPictures()).probeMotionJpeg(opened.stream, pictures);
        return { platform: 'mjpeg', playbackUrl, framesOnly: !hasClips };
      }
      case 'mpeg-ts':
        await (await loadTsStream()).probeTsStream(opened.stream, tsStream);
        return { platform: 'mpegts', playbackUrl };
      default:
        throw notAStream(opened.stream.content);
    }
  }

  async function clipOther(
    { stream }: Opened,
    request: ClipRequest,
    signal: AbortSignal,
  ): Promise<ClipResult> {
    const { content } = stream;
    if (!clips || (content !== 'motion-jpeg' && content !== 'mpeg-ts')) return singlePictures;
    const record = async (seconds: number) =>
      content === 'mpeg-ts'
        ? (await loadTsStream()).recordTsStream(stream, seconds, tsStream)
        : (await loadPictures()).recordMotionJpeg(stream, seconds, pictures);
    return recordOn({ ...clips, now }, request, record, signal);
  }

  async function captureOther(opened: Opened, request: CaptureRequest, signal: AbortSignal) {
    switch (opened.stream.content) {
      case 'jpeg':
        return (await loadPictures()).captureSnapshot(opened, request, pictures, signal);
      case 'motion-jpeg':
        return (await loadPictures()).captureMotionJpeg(opened.stream, request, pictures, signal);
      case 'mpeg-ts':
        return (await loadTsStream()).captureTsStream(opened.stream, request, tsStream, signal);
      default:
        throw notAStream(opened.stream.content);
    }
  }
}

/** A server may answer the first request after a pause, or one now and then, without a body. */
async function openAgain(open: () => Promise<WebStream>, signal: AbortSignal): Promise<WebStream> {
  const first = await open();
  if (first.content !== 'an empty response') return first;
  first.close();
  await sleep(againMs, undefined, { signal });
  return open();
}

/** Time after which an empty response is requested again, in milliseconds. */
const againMs = 500;

function isPlaylist(url: string): boolean {
  return /\.m3u8?$/i.test(URL.parse(url)?.pathname ?? '');
}

type Opened = { stream: WebStream; reopen: () => Promise<WebStream> };

function withoutCredentials(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

function notAStream(content: WebContent): StreamError {
  if (content === 'an empty response')
    return new StreamFetchError(
      'The server answers without a body. Check that the camera is on, and that the address shows a picture in a browser.',
    );
  if (content === 'a video file') return new VideoFileError();
  if (content === 'a DASH manifest')
    return new InvalidUrlError(
      'The URL leads to a DASH manifest, which is not read. Use the HLS playlist (.m3u8) of the same server.',
    );
  const isPicture = content.endsWith(' picture');
  return new InvalidUrlError(
    isPicture
      ? `The URL leads to ${content}, and only JPEG can be read. Choose JPEG in the camera.`
      : `The URL leads to ${content}, not to a stream. Use the address of the stream itself: an HLS playlist (.m3u8), endless MPEG-TS, a JPEG or Motion JPEG.`,
  );
}
