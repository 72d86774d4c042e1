import { tmpdir } from 'node:os';
import { createEgressGuard, type EgressGuardOptions } from '../../../adapters/egress/guard.ts';
import { createFfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createRtspCapturer } from '../../../adapters/media/rtsp/capture-rtsp.ts';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { ffmpegPath } from '../hls/recording.ts';

/** Creates the real capturer: guard, relay and ffmpeg. */
export function captureRtsp(
  url: string,
  wanted: Partial<CaptureRequest> = {},
  signal = new AbortController().signal,
  lookup?: EgressGuardOptions['lookup'],
): Promise<Capture> {
  const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32', '::1/128'], ...(lookup && { lookup }) });
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: tmpdir() });
  const capturer = createRtspCapturer({ guard, ffmpeg, now: () => new Date(), answerTimeoutMs: 5_000 });
  return capturer.capture(
    { url, mode: 'frames', clipSeconds: 1, caller: 'ada', resolveAgain: false, ...wanted },
    signal,
  );
}
