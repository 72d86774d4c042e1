import { PictureDecodeError } from './errors.ts';
import { decodingLimits, quiet } from './graphs.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

/** Width and height in pixels that a picture is scaled to, whatever its own shape. */
export type PictureSize = { width: number; height: number };

export type PictureDecoder = {
  /** One JPEG as packed RGB, `width * height * 3` bytes. Throws `PictureDecodeError`. */
  decode(jpeg: Uint8Array, size: PictureSize, signal: AbortSignal): Promise<Uint8Array>;
  /** The pictures of an MP4 that starts with its index, each as packed RGB. Throws `PictureDecodeError`. */
  decodeClip(
    mp4: Uint8Array,
    size: PictureSize,
    framesPerSecond: number,
    signal: AbortSignal,
  ): Promise<Uint8Array[]>;
};

const timeoutMs = 10_000;
/** A clip of a minute at 8 frames a second; what comes beyond is an attack. */
const mostPictures = 480;

/** `explode`: a picture that is cut off is refused, not filled up with grey. */
const jpegInput =
  '-err_detect explode -codec_whitelist mjpeg -protocol_whitelist pipe -f image2pipe -c:v mjpeg -i pipe:0';
const mp4Input = '-codec_whitelist h264 -protocol_whitelist pipe -f mov -i pipe:0';

export function createPictureDecoder(options: { ffmpegPath: string }): PictureDecoder {
  return {
    decode: async (jpeg, size, signal) => {
      const [picture] = await pictures(jpeg, jpegInput, scaled(size), size, 1, signal);
      if (picture === undefined) throw new PictureDecodeError('The picture cannot be decoded as JPEG');
      return picture;
    },
    decodeClip: async (mp4, size, framesPerSecond, signal) => {
      const filter = `fps=${framesPerSecond},${scaled(size)}`;
      const found = await pictures(mp4, mp4Input, filter, size, mostPictures, signal);
      if (found.length === 0) throw new PictureDecodeError('The clip cannot be decoded as H.264 in MP4');
      return found;
    },
  };

  async function pictures(
    bytes: Uint8Array,
    input: string,
    filter: string,
    size: PictureSize,
    most: number,
    signal: AbortSignal,
  ): Promise<Uint8Array[]> {
    const pictureBytes = size.width * size.height * 3;
    const output = ['-map', '0:v:0', '-vf', filter, '-frames:v', `${most}`, '-fps_mode', 'passthrough'];
    const outcome = await spawnFfmpeg(
      {
        ffmpegPath: options.ffmpegPath,
        args: [...quiet, ...decodingLimits, ...input.split(' '), ...output, '-f', 'rawvideo', 'pipe:1'],
        input: [bytes],
        outputBytes: most * pictureBytes,
        timeoutMs,
      },
      signal,
    );
    if (outcome.ended !== 'exited') throw new PictureDecodeError(`Decoding ${outcome.ended}`);
    return inPieces(outcome.stdout, pictureBytes);
  }
}

function scaled(size: PictureSize): string {
  return `scale=${size.width}:${size.height}:flags=area,format=rgb24`;
}

function inPieces(bytes: Uint8Array, pieceBytes: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start + pieceBytes <= bytes.length; start += pieceBytes) {
    pieces.push(bytes.subarray(start, start + pieceBytes));
  }
  return pieces;
}
