import { StreamEndedError } from '../../core/errors.ts';
import type { Capture, CaptureRequest, StreamProbe } from '../../core/capture.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { FfmpegRunner } from '../media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from '../media/hls/capture-hls.ts';
import { StatusError } from '../media/hls/fetch-failure.ts';
import type { PlaylistBudget } from '../media/hls/playlist-budget.ts';
import { PlaylistGoneError, type PreparePlaylist } from '../media/hls/fetch-playlist.ts';
import { BroadcastOverError, type Resolution } from './resolution.ts';
import { createResolutionMemory, freshUntil } from './resolution-memory.ts';

export type PlatformStreams = {
  platform: 'youtube' | 'twitch';
  /** The broadcast at the URL of a page. Throws `StreamError`. */
  resolve(url: string): Promise<Resolution>;
  /** How many watch it now, where that takes a request of its own. */
  viewers?(resolution: Resolution): Promise<number | undefined>;
  preparePlaylist?: PreparePlaylist;
};

/** Captures the pages of one platform: HLS in the end, from playlists that have to be asked for, and expire. */
export function createPlatformCapturer(deps: {
  streams: PlatformStreams;
  http: GuardedHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  budget: PlaylistBudget;
  limits: Partial<HlsLimits>;
}): StreamCapturer {
  const { streams, now } = deps;
  const memory = createResolutionMemory({ resolve: streams.resolve, now, most: 1000 });
  const hls = createHlsCapturer({ ...deps, source: { locate, prepare: streams.preparePlaylist } });
  return { probe, capture };

  async function locate(url: string, again: boolean, signal: AbortSignal) {
    const { playlistUrl, mediaExpiresAt } = await memory.resolve(url, again, signal);
    return { url: playlistUrl, freshUntil: freshUntil(mediaExpiresAt, now()) };
  }

  /** What is told of a stream is told anew each time; the capture that may follow has the playlist from memory. */
  async function probe(url: string, signal: AbortSignal): Promise<StreamProbe> {
    const resolution = await memory.resolve(url, true, signal);
    const { pageUrl, details } = resolution;
    const [viewers] = await Promise.all([viewersOf(resolution), hls.probe(url, signal)]);
    return {
      platform: streams.platform,
      playbackUrl: pageUrl,
      details: { ...details, ...(viewers === undefined ? {} : { viewers }) },
    };
  }

  /** A stream without a number of viewers is better than none. */
  async function viewersOf(resolution: Resolution): Promise<number | undefined> {
    return streams.viewers?.(resolution).catch(() => undefined);
  }

  /** A playlist that is refused has expired before its time, or the broadcast is over: the platform knows. */
  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    try {
      return await hls.capture(request, signal).catch((error: unknown) => {
        if (request.resolveAgain || !isRefused(error)) throw error;
        return hls.capture({ ...request, resolveAgain: true }, signal);
      });
    } catch (error) {
      throw error instanceof BroadcastOverError ? new StreamEndedError({ cause: error }) : error;
    }
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof PlaylistGoneError || (error instanceof StatusError && error.status === 403);
}
