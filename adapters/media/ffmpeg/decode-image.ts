import { ImageDecodeError } from './errors.ts';
import { clipInput, decodingLimits, jpegInput, quietArguments } from './capture-arguments.ts';
import { createFfmpegPool } from './ffmpeg-pool.ts';
import { withoutTurns, type InTurn } from './in-turn.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

/** Size of an image, in pixels. */
export type ImageSize = { width: number; height: number };

/** Handling of an image with another aspect ratio: stretched, or scaled to fit between black bars. */
export type ImageFit = 'stretched' | 'whole';

/** Decoder of images and clips into packed RGB, `width * height * 3` bytes per image. */
export type ImageDecoder = {
  /** Decodes one JPEG. Throws `PictureDecodeError`. */
  decode(jpeg: Uint8Array, size: ImageSize, signal: AbortSignal): Promise<Uint8Array>;
  /** Decodes several JPEGs in one ffmpeg process. Throws `PictureDecodeError` if one of them cannot be decoded. */
  decodeAll(jpegs: Uint8Array[], size: ImageSize, signal: AbortSignal, fit?: ImageFit): Promise<Uint8Array[]>;
  /**
   * Like `decodeAll`, with null for each undecodable JPEG. Throws `PictureDecodeError` if none can be decoded or
   * the run is aborted.
   */
  decodeEach(
    jpegs: Uint8Array[],
    size: ImageSize,
    signal: AbortSignal,
    fit?: ImageFit,
  ): Promise<(Uint8Array | null)[]>;
  /** Decodes the frames of an MP4 whose index precedes its data. Throws `PictureDecodeError`. */
  decodeClip(
    mp4: Uint8Array,
    size: ImageSize,
    framesPerSecond: number,
    signal: AbortSignal,
  ): Promise<Uint8Array[]>;
};

const timeoutMs = 10_000;
/** Maximum frames per clip: one minute at 8 frames per second. A clip with more is an attack. */
const maxFrames = 480;

/** `-err_detect explode` rejects a truncated JPEG; by default ffmpeg fills it up with gray. */
const wholeJpegInput = ['-err_detect', 'explode', ...jpegInput];

/** Lifetime of an idle process for clips, in milliseconds: as that of captures. */
const keepSpareMs = 65_000;

/**
 * Creates a decoder that runs one ffmpeg process per call, in turn, for at most 10 s. With `prepareAfterMs`, a process
 * for the next clip starts after each clip, so that its start takes no time.
 */
export function createImageDecoder(options: {
  ffmpegPath: string;
  prepareAfterMs?: number;
  inTurn?: InTurn | undefined;
}): ImageDecoder {
  const { inTurn = withoutTurns } = options;
  const spares = createFfmpegPool({ ...options, keepMs: keepSpareMs, newFile: () => '' });
  return {
    decode: async (jpeg, size, signal) => {
      const [picture] = await pictures([jpeg], wholeJpegInput, scaled(size), size, 1, signal);
      if (picture === undefined) throw new ImageDecodeError('The image cannot be decoded as JPEG');
      return picture;
    },
    decodeAll,
    decodeEach: async (jpegs, size, signal, fit) => {
      try {
        return await decodeAll(jpegs, size, signal, fit);
      } catch (error) {
        if (!(error instanceof ImageDecodeError) || signal.aborted) throw error;
        // Only separate runs show which JPEG is broken. They are slow, but rarely needed.
        const decoded = await oneByOne(jpegs, size, signal, fit);
        if (decoded.every((picture) => picture === null)) throw error;
        return decoded;
      }
    },
    decodeClip: async (mp4, size, framesPerSecond, signal) => {
      const filter = `fps=${framesPerSecond},${scaled(size)}`;
      const frames = await pictures([mp4], clipInput, filter, size, maxFrames, signal, true);
      if (frames.length === 0) throw new ImageDecodeError('The clip cannot be decoded as H.264 in MP4');
      return frames;
    },
  };

  async function decodeAll(
    jpegs: Uint8Array[],
    size: ImageSize,
    signal: AbortSignal,
    fit: ImageFit = 'stretched',
  ): Promise<Uint8Array[]> {
    if (jpegs.length === 0) return [];
    const images = await pictures(jpegs, wholeJpegInput, decodeFilter(size, fit), size, jpegs.length, signal);
    if (images.length !== jpegs.length)
      throw new ImageDecodeError('One of the images cannot be decoded as JPEG');
    return images;
  }

  async function oneByOne(
    jpegs: Uint8Array[],
    size: ImageSize,
    signal: AbortSignal,
    fit: ImageFit | undefined,
  ): Promise<(Uint8Array | null)[]> {
    const decoded: (Uint8Array | null)[] = [];
    for (const jpeg of jpegs) {
      const [picture = null] = await decodeAll([jpeg], size, signal, fit).catch((error: unknown) => {
        if (!(error instanceof ImageDecodeError) || signal.aborted) throw error;
        return [];
      });
      decoded.push(picture);
    }
    return decoded;
  }

  async function pictures(
    chunks: Uint8Array[],
    input: readonly string[],
    filter: string,
    size: ImageSize,
    max: number,
    signal: AbortSignal,
    isClip = false,
  ): Promise<Uint8Array[]> {
    const pictureBytes = size.width * size.height * 3;
    const output = ['-map', '0:v:0', '-vf', filter, '-frames:v', `${max}`, '-fps_mode', 'passthrough'];
    const raw = ['-f', 'rawvideo', 'pipe:1'];
    const args = [...quietArguments, ...decodingLimits, ...input, ...output, ...raw];
    const keepsSpare = isClip && options.prepareAfterMs !== undefined;
    signal.throwIfAborted();
    const decode = async () => {
      const run = keepsSpare
        ? { process: spares.take(() => args) }
        : { ffmpegPath: options.ffmpegPath, args };
      return spawnFfmpeg({ ...run, input: chunks, outputBytes: max * pictureBytes, timeoutMs }, signal);
    };
    const outcome = await inTurn(decode, signal);
    if (keepsSpare) spares.prepare(() => args);
    if (outcome.ended !== 'exited') throw new ImageDecodeError(`Decoding ${outcome.ended}`);
    return inPieces(outcome.stdout, pictureBytes);
  }
}

export function decodeFilter(size: ImageSize, fit: ImageFit): string {
  return fit === 'whole' ? letterboxed(size) : scaled(size);
}

function scaled(size: ImageSize): string {
  return `scale=${size.width}:${size.height}:flags=area,format=rgb24`;
}

function letterboxed({ width, height }: ImageSize): string {
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
