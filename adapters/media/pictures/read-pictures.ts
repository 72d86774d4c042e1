import { StreamFetchError } from '../../../core/errors.ts';
import { EgressTimeoutError } from '../../egress/errors.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { maxPixels } from '../ffmpeg/capture-arguments.ts';
import type { PictureLimits } from './picture-limits.ts';
import { createJpegSplitter, JpegTooLargeError } from './split-jpegs.ts';

/** JPEG of a stream, with the time of its arrival on the clock of `elapsedMs`. */
export type Picture = { jpeg: Uint8Array; atMs: number };

/** Body that ends within its first JPEG: many cameras write the picture while they serve it. */
export class IncompletePictureError extends StreamFetchError {
  override name = 'IncompletePictureError';
}

/**
 * Yields the pictures of a stream as they arrive; of several that arrive together, the newest, or the first: behind the picture of a snapshot may be its
 * preview. Throws `StreamFetchError` for one that cannot be decoded within the limits,
 * `IncompletePictureError` if the stream ends before its first picture, and the errors of `chunks`.
 */
export async function* readPictures(
  chunks: AsyncIterable<Uint8Array>,
  limits: PictureLimits,
  elapsedMs: () => number,
  taken: 'first' | 'newest',
): AsyncGenerator<Picture> {
  const splitter = createJpegSplitter({ maxBytes: limits.jpegBytes });
  let bytes = 0;
  let pictures = 0;
  for await (const chunk of withoutEnd(chunks)) {
    bytes += chunk.length;
    if (bytes > limits.streamBytes) throw tooMuch(limits.streamBytes);
    const jpeg = split(chunk).at(taken === 'first' ? 0 : -1);
    if (jpeg === undefined) continue;
    checkJpeg(jpeg);
    pictures += 1;
    yield { jpeg, atMs: elapsedMs() };
  }
  if (pictures === 0) throw endsEarly(splitter.isWithin());

  /** A timeout within a picture says that its end is missing. */
  async function* withoutEnd(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      const isLate = error instanceof StreamFetchError && error.cause instanceof EgressTimeoutError;
      throw isLate && pictures === 0 && splitter.isWithin() ? endsEarly(true) : error;
    }
  }

  function split(chunk: Uint8Array): Uint8Array[] {
    try {
      return splitter.push(chunk);
    } catch (error) {
      if (!(error instanceof JpegTooLargeError)) throw error;
      throw new StreamFetchError(
        `A picture of the stream has more than ${megabytes(limits.jpegBytes)} MB. Choose a smaller size or a lower quality in the camera.`,
        undefined,
        { cause: error },
      );
    }
  }
}

function checkJpeg(jpeg: Uint8Array): void {
  const header = readJpegHeader(jpeg);
  if (header === undefined)
    throw new StreamFetchError(
      'The picture is a JPEG of a kind that cannot be read. Use baseline or progressive JPEG with 8 bits per color.',
    );
  const pixels = header.width * header.height;
  if (pixels > maxPixels)
    throw new StreamFetchError(
      `The picture has ${(pixels / 1e6).toFixed(1)} megapixels, and at most ${(maxPixels / 1e6).toFixed(1)} can be read. Choose a smaller size in the camera.`,
    );
}

function tooMuch(maxBytes: number): StreamFetchError {
  return new StreamFetchError(
    `The stream sends more than ${megabytes(maxBytes)} MB for one check. Choose smaller pictures or fewer per second in the camera.`,
  );
}

function endsEarly(isWithin: boolean): StreamFetchError {
  if (isWithin)
    return new IncompletePictureError(
      'The picture is incomplete: the bytes end before the end marker of the JPEG. Check that the picture is whole in a browser, then try again.',
      undefined,
      { isDamaged: true },
    );
  return new StreamFetchError(
    'The stream ended without a picture. Check that the camera is on, and that the address shows a picture in a browser.',
  );
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
