import { StreamEndedError } from '../../core/errors.ts';
import type { Capture, CaptureRequest, StreamProbe } from '../../core/records/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { FfmpegRunner } from '../media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from '../media/hls/capture-hls.ts';
import { StatusError } from '../media/web/fetch-failure.ts';
import type { PlaylistBudget } from '../media/hls/playlist/playlist-budget.ts';
import { toStreamKey, type CallerStream } from '../caller-stream.ts';
import { PlaylistGoneError, type PreparePlaylist } from '../media/hls/playlist/fetch-playlist.ts';
import { BroadcastEndedError, type Resolution } from './resolution.ts';
import { waitUntilAborted } from '../../core/time-limit.ts';
import { createFairByteCache } from '../byte-cache.ts';

/** Cache of resolutions by caller and page URL. */
export type ResolutionCache = {
  /**
   * Returns the resolution of a page; `again` bypasses the cache. Throws the errors of `resolve`, and the abort
   * reason.
   */
  resolve(page: CallerStream, again: boolean, signal: AbortSignal): Promise<Resolution>;
};

const maxBytes = 16 * 1024 * 1024;

/**
 * Creates a cache in memory. It resolves a page again shortly before expiry. Concurrent calls share one request, so
 * no single abort signal cancels it.
 */
export function createResolutionCache(deps: {
  resolve: (url: string) => Promise<Resolution>;
  now: () => Date;
  max: number;
}): ResolutionCache {
  const resolutions = createFairByteCache<{ resolution: Resolution; freshUntil: Date | null }>({
    name: 'resolutions of pages',
    max: deps.max,
    maxBytes,
  });
  const underWay = new Map<string, Promise<Resolution>>();
  return {
    resolve: async (page, again, signal) => {
      const entry = resolutions.get(page.caller, page.url);
      if (!again && entry && isFresh(entry.freshUntil, deps.now())) return entry.resolution;
      return waitUntilAborted(underWay.get(toStreamKey(page)) ?? begin(page), signal);
    },
  };

  function begin(page: CallerStream): Promise<Resolution> {
    const key = toStreamKey(page);
    const resolving = resolveAndKeep(page).finally(() => underWay.delete(key));
    underWay.set(key, resolving);
    return resolving;
  }

  async function resolveAndKeep({ url, caller }: CallerStream): Promise<Resolution> {
    resolutions.delete(caller, url);
    // Its texts may be parts of a whole page.
    const resolution = structuredClone(await deps.resolve(url));
    resolutions.set(caller, url, { resolution, freshUntil: freshUntil(resolution.expiresAt, deps.now()) });
    return resolution;
  }
}

/**
 * Returns the time for a renewal: five minutes before expiry, longer than any capture, or half of the remaining
 * time if that is shorter.
 */
function freshUntil(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt === null) return null;
  const leftMs = Math.max(0, expiresAt.getTime() - now.getTime());
  return new Date(expiresAt.getTime() - Math.min(marginMs, leftMs / 2));
}

const marginMs = 5 * 60_000;

function isFresh(until: Date | null, now: Date): boolean {
  return until === null || now < until;
}

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
