import type { ImageSize } from './decode-image.ts';
import { quietArguments } from './capture-arguments.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

const timeoutMs = 10_000;
const jpegBytesLimit = 16 * 1024 * 1024;

/**
 * Encodes packed RGB (`width * height * 3` bytes) as JPEG. Throws an `Error` if ffmpeg fails, takes over 10 s, or
 * writes over 16 MiB.
 */
export async function encodeJpeg(
  rgb: Uint8Array,
  { width, height }: ImageSize,
  ffmpegPath: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const input = `-codec_whitelist rawvideo -protocol_whitelist pipe -f rawvideo -pixel_format rgb24 -video_size ${width}x${height} -i pipe:0`;
  const output = '-frames:v 1 -c:v mjpeg -q:v 4 -pix_fmt yuvj420p -f image2pipe pipe:1';
  const outcome = await spawnFfmpeg(
    {
      ffmpegPath,
      args: [...quietArguments, ...input.split(' '), ...output.split(' ')],
      input: [rgb],
      outputBytes: jpegBytesLimit,
      timeoutMs,
    },
    signal,
  );
  if (outcome.ended === 'exited' && outcome.exitCode === 0 && outcome.stdout.length > 0)
    return outcome.stdout;
  throw new Error(`Encoding a JPEG ${outcome.ended}: ${outcome.stderr.trim()}`);
}
