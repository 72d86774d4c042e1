import { PictureDecodeError } from './errors.ts';
import { decodingLimits, quiet } from './graphs.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

export type PictureSize = { width: number; height: number };

/** What becomes of a picture of another shape: it is stretched, or keeps its shape between black bars. */
export type PictureFit = 'stretched' | 'whole';

export type PictureDecoder = {
  /** One JPEG as packed RGB, `width * height * 3` bytes. Throws `PictureDecodeError`. */
  decode(jpeg: Uint8Array, size: PictureSize, signal: AbortSignal): Promise<Uint8Array>;
  /** Several JPEGs, each as packed RGB, by one ffmpeg. Throws `PictureDecodeError` if any of them cannot be decoded. */
  decodeAll(
    jpegs: Uint8Array[],
    size: PictureSize,
    signal: AbortSignal,
    fit?: PictureFit,
  ): Promise<Uint8Array[]>;
  /** The same, with null for each that cannot be decoded. Throws `PictureDecodeError` where none can, or `signal` ends it. */
  decodeEach(
    jpegs: Uint8Array[],
    size: PictureSize,
    signal: AbortSignal,
    fit?: PictureFit,
  ): Promise<(Uint8Array | null)[]>;
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
      const [picture] = await pictures([jpeg], jpegInput, scaled(size), size, 1, signal);
      if (picture === undefined) throw new PictureDecodeError('The picture cannot be decoded as JPEG');
      return picture;
    },
    decodeAll,
    decodeEach: async (jpegs, size, signal, fit) => {
      try {
        return await decodeAll(jpegs, size, signal, fit);
      } catch (error) {
        if (!(error instanceof PictureDecodeError) || signal.aborted) throw error;
        // Which one it is shows only when each is decoded by itself; that takes long, and is rare.
        const found = await oneByOne(jpegs, size, signal, fit);
        if (found.every((picture) => picture === null)) throw error;
        return found;
      }
    },
    decodeClip: async (mp4, size, framesPerSecond, signal) => {
      const filter = `fps=${framesPerSecond},${scaled(size)}`;
      const found = await pictures([mp4], mp4Input, filter, size, mostPictures, signal);
      if (found.length === 0) throw new PictureDecodeError('The clip cannot be decoded as H.264 in MP4');
      return found;
    },
  };

  async function decodeAll(
    jpegs: Uint8Array[],
    size: PictureSize,
    signal: AbortSignal,
    fit: PictureFit = 'stretched',
  ): Promise<Uint8Array[]> {
    if (jpegs.length === 0) return [];
    const filter = fit === 'whole' ? letterboxed(size) : scaled(size);
    const found = await pictures(jpegs, jpegInput, filter, size, jpegs.length, signal);
    if (found.length !== jpegs.length)
      throw new PictureDecodeError('One of the pictures cannot be decoded as JPEG');
    return found;
  }

  async function oneByOne(
    jpegs: Uint8Array[],
    size: PictureSize,
    signal: AbortSignal,
    fit: PictureFit | undefined,
  ): Promise<(Uint8Array | null)[]> {
    const found: (Uint8Array | null)[] = [];
    for (const jpeg of jpegs) {
      const [picture = null] = await decodeAll([jpeg], size, signal, fit).catch((error: unknown) => {
        if (!(error instanceof PictureDecodeError) || signal.aborted) throw error;
        return [];
      });
      found.push(picture);
    }
    return found;
  }

  async function pictures(
    chunks: Uint8Array[],
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
        input: chunks,
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

function letterboxed({ width, height }: PictureSize): string {
  const shrunk = `scale=${width}:${height}:flags=area:force_original_aspect_ratio=decrease`;
  return `${shrunk},pad=${width}:${height}:-1:-1,format=rgb24`;
}

function inPieces(bytes: Uint8Array, pieceBytes: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start + pieceBytes <= bytes.length; start += pieceBytes) {
    pieces.push(bytes.subarray(start, start + pieceBytes));
  }
  return pieces;
}
