import type { FfmpegRunner, PipeInput, WantedCapture } from './run-ffmpeg.ts';

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
