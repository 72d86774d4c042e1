import { InvalidUrlError } from '../../core/errors.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { EgressGuard } from '../egress/guard.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { FfmpegRunner } from './ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from './hls/capture-hls.ts';
import { createRtspCapturer } from './rtsp/capture-rtsp.ts';

export type StreamCapturerDependencies = {
  guard: EgressGuard;
  http: GuardedHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  hlsLimits?: Partial<HlsLimits>;
};

/** Everything but RTSP is HLS, whatever the path of its URL ends in. */
export function createStreamCapturer(deps: StreamCapturerDependencies): StreamCapturer {
  const hls = createHlsCapturer({ ...deps, limits: deps.hlsLimits ?? {} });
  const rtsp = createRtspCapturer(deps);
  return {
    probe: async (url, signal) => capturerFor(url).probe(url, signal),
    capture: async (request, signal) => capturerFor(request.url).capture(request, signal),
  };

  function capturerFor(text: string): StreamCapturer {
    const url = deps.guard.check(text, ['http', 'https', 'rtsp']);
    if (url.protocol === 'rtsp:') return rtsp;
    const platform = platformOf(url.hostname);
    if (platform === null) return hls;
    throw new InvalidUrlError(
      `This version does not resolve ${platform} pages. Give the stream's HLS playlist (.m3u8), for example as yt-dlp -g or streamlink --stream-url print it.`,
    );
  }
}

function platformOf(host: string): 'YouTube' | 'Twitch' | null {
  if (/(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i.test(host)) return 'YouTube';
  return /(^|\.)twitch\.tv\.?$/i.test(host) ? 'Twitch' : null;
}
