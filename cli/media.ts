import { availableParallelism } from 'node:os';
import { createEgressGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { limitDecodes } from '../adapters/embedded/limit-decodes.ts';
import { poolDecoders } from '../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createMaskMedia } from '../adapters/media/mask-media.ts';
import { createRtspSessions } from '../adapters/media/rtsp/rtsp-sessions.ts';
import { createStreamCapturer } from '../adapters/media/stream-capturer.ts';
import type { PlatformSettings } from '../adapters/platforms/platform-settings.ts';
import { setSystemTimer } from '../core/time-limit.ts';

/** Time after a capture at which the process for the next one starts. Its check is done by then. */
const prepareAfterMs = 1_500;

/** Processes that stay, of 10 MB each: callers and sizes of frames that decode without a start of ffmpeg. */
const minSharedDecoders = 8;

const elapsedMs = (): number => performance.now();

/** Creates the media adapters: one guard, one HTTP client, and the capturer that uses both. */
export function createMedia(
  allowRanges: readonly string[],
  platforms: PlatformSettings,
  ffmpegPath: string,
  tempDir: string,
  now: () => Date,
  reportWait: (waitedMs: number) => void = () => undefined,
  /** RTSP sessions that stay open between captures; with 0, each capture opens its own. */
  maxRtspSessions = 0,
  /** Decodes key frames in processes that stay. */
  sharesDecoders = true,
) {
  const guard = createEgressGuard({ allowRanges });
  const http = createGuardedHttp(guard);
  const concurrentDecodes = availableParallelism() + 1;
  const runner = createFfmpegRunner({ ffmpegPath, tempDir, prepareAfterMs });
  const ffmpeg = limitDecodes({
    ffmpeg: sharesDecoders
      ? poolDecoders({
          ffmpegPath,
          ffmpeg: runner,
          maxProcesses: Math.max(concurrentDecodes, minSharedDecoders),
          elapsedMs,
        })
      : runner,
    max: concurrentDecodes,
    elapsedMs,
    setTimer: setSystemTimer,
    report: reportWait,
  });
  const rtspSessions =
    maxRtspSessions === 0
      ? undefined
      : createRtspSessions({ guard, elapsedMs, setTimer: setSystemTimer, maxKept: maxRtspSessions });
  const streams = createStreamCapturer({ guard, http, ffmpeg, now, platforms, rtspSessions });
  return {
    guard,
    http,
    streams,
    maskMedia: createMaskMedia({ ffmpegPath, tempDir }),
    closeSessions: async () => rtspSessions?.close(),
  };
}
