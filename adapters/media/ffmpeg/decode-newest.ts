import type { FfmpegInput, FfmpegOutput, FfmpegRunner } from './run-ffmpeg.ts';

/** Clip whose last frame is wanted: two frames of it. */
export const newestFrame = { mode: 'clip', clipSeconds: 0.4 } as const;

/** Decodes the newest frame, with those before it to which it refers. Throws like `FfmpegRunner.run`. */
export async function decodeNewest(
  ffmpeg: FfmpegRunner,
  input: FfmpegInput,
  limits: { timeoutMs: number },
  signal: AbortSignal,
): Promise<FfmpegOutput> {
  const { frame, thumbnail } = await ffmpeg.run(input, newestFrame, limits, signal);
  return { frame, thumbnail };
}
