import { detectPlatform, streamSchemes } from '../../core/records/platform.ts';
import type { ScanningCapturer } from '../../core/ports/frame-pictures.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { ClipResult } from '../../core/records/clip.ts';
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
import { createWebCapturer } from './capture-web.ts';

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
