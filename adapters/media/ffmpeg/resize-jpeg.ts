import { decodingLimits, quietArguments, scaleDown } from './capture-arguments.ts';
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
  const input = '-codec_whitelist mjpeg -protocol_whitelist pipe -f image2pipe -c:v mjpeg -i pipe:0';
  const output = '-frames:v 1 -c:v mjpeg -q:v 3 -pix_fmt yuvj420p -f image2pipe pipe:1';
  const args = [...quietArguments, ...decodingLimits, ...input.split(' ')];
  const outcome = await spawnFfmpeg(
    {
      ffmpegPath,
      args: [...args, '-vf', scaleDown(widthPixels), ...output.split(' ')],
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
