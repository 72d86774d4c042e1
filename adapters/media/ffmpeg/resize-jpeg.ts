import { decodingLimits, jpegInput, jpegOutput, quietArguments, scaleDown } from './capture-arguments.ts';
import { ImageDecodeError } from './errors.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

const timeoutMs = 10_000;
const jpegBytesLimit = 16 * 1024 * 1024;

/** Scales a JPEG down to a width in pixels, never up. Throws `ImageDecodeError` if ffmpeg fails or takes over 10 s. */
export async function resizeJpeg(
  jpeg: Uint8Array,
  widthPixels: number,
  ffmpegPath: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const outcome = await spawnFfmpeg(
    {
      ffmpegPath,
      args: [
        ...quietArguments,
        ...decodingLimits,
        ...jpegInput,
        '-vf',
        scaleDown(widthPixels),
        ...jpegOutput,
      ],
      input: [jpeg],
      outputBytes: jpegBytesLimit,
      timeoutMs,
    },
    signal,
  );
  if (outcome.ended === 'exited' && outcome.exitCode === 0 && outcome.stdout.length > 0)
    return outcome.stdout;
  throw new ImageDecodeError('The image cannot be decoded as JPEG');
}
