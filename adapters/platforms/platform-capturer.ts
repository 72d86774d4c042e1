import { StreamEndedError } from '../../core/errors.ts';
import type { Capture, CaptureRequest, StreamProbe } from '../../core/records/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { FfmpegRunner } from '../media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from '../media/hls/capture-hls.ts';
import { StatusError } from '../media/web/fetch-failure.ts';
import type { PlaylistBudget } from '../media/hls/playlist/playlist-budget.ts';
import type { CallerStream } from '../caller-stream.ts';
import { PlaylistGoneError, type PreparePlaylist } from '../media/hls/playlist/fetch-playlist.ts';
import { BroadcastEndedError, type Resolution } from './resolution.ts';
import { createResolutionCache, freshUntil } from './resolution-cache.ts';

/** Streams of one platform. */
export type PlatformStreams = {
  platform: 'youtube' | 'twitch';
  /** Resolves a page URL to its live broadcast. Throws `StreamError`. */
  resolve(url: string): Promise<Resolution>;
  /** Returns the number of viewers, if it needs a separate request. */
  viewers?(resolution: Resolution): Promise<number | undefined>;
  preparePlaylist?: PreparePlaylist;
};

/**
 * Creates a capturer for the pages of a platform. It captures HLS, from playlists that must be requested and
 * expire.
 */
export function createPlatformCapturer(deps: {
  streams: PlatformStreams;
  http: GuardedHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  budget: PlaylistBudget;
  limits: Partial<HlsLimits>;
}): StreamCapturer {
  const { streams, now } = deps;
  const cache = createResolutionCache({ resolve: streams.resolve, now, max: 1000 });
  const hls = createHlsCapturer({ ...deps, source: { locate, prepare: streams.preparePlaylist } });
  return { probe, capture };

  async function locate(page: CallerStream, again: boolean, signal: AbortSignal) {
    const { playlistUrl, mediaExpiresAt } = await cache.resolve(page, again, signal);
    return { url: playlistUrl, freshUntil: freshUntil(mediaExpiresAt, now()) };
  }

  /** Resolves the stream again, for current details. The next capture reads the playlist from the cache. */
  async function probe(url: string, signal: AbortSignal, caller: string): Promise<StreamProbe> {
    const resolution = await cache.resolve({ url, caller }, true, signal);
    const { pageUrl, details } = resolution;
    const [viewers] = await Promise.all([readViewers(resolution), hls.probe(url, signal, caller)]);
    return {
      platform: streams.platform,
      playbackUrl: pageUrl,
      details: { ...details, ...(viewers === undefined ? {} : { viewers }) },
    };
  }

  /** Ignores a failure: the number of viewers is optional. */
  async function readViewers(resolution: Resolution): Promise<number | undefined> {
    return streams.viewers?.(resolution).catch(() => undefined);
  }

  /** Resolves again if the playlist is rejected: it has expired early, or the broadcast has ended. */
  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    try {
      return await hls.capture(request, signal).catch((error: unknown) => {
        if (request.resolveAgain || !isRefused(error)) throw error;
        return hls.capture({ ...request, resolveAgain: true }, signal);
      });
    } catch (error) {
      throw error instanceof BroadcastEndedError ? new StreamEndedError({ cause: error }) : error;
    }
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof PlaylistGoneError || (error instanceof StatusError && error.status === 403);
}
