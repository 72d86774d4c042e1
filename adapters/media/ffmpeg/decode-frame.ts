import type { FfmpegRunner, PipeInput, WantedCapture, FfmpegInput, FfmpegOutput } from './run-ffmpeg.ts';

/** Decodes a key frame to a frame for the model. Returns null if it cannot be decoded. Throws the abort reason. */
export async function decodeKeyFrame(
  ffmpeg: FfmpegRunner,
  input: PipeInput,
  { caller, timeoutMs }: Pick<WantedCapture, 'caller'> & { timeoutMs: number },
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const wanted = { mode: 'frames', clipSeconds: 0, caller } as const;
  try {
    return (await ffmpeg.run(input, wanted, { timeoutMs }, signal)).frame;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

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
