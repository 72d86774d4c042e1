import type { FfmpegRunner, WantedCapture } from './run-ffmpeg.ts';

/** Decodes a key frame in MPEG-TS to a frame for the model. Returns null if it cannot be decoded. Throws the abort reason. */
export async function decodeKeyFrame(
  ffmpeg: FfmpegRunner,
  keyFrame: Uint8Array,
  { caller, timeoutMs }: Pick<WantedCapture, 'caller'> & { timeoutMs: number },
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const wanted = { mode: 'frames', clipSeconds: 0, caller } as const;
  try {
    const output = await ffmpeg.run(
      { kind: 'pipe', format: 'mpegts', chunks: [keyFrame] },
      wanted,
      { timeoutMs },
      signal,
    );
    return output.frame;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
