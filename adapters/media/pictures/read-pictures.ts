import { StreamFetchError } from '../../../core/errors.ts';
import { EgressTimeoutError } from '../../egress/errors.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { maxPixels, clipFramesPerSecond } from '../ffmpeg/capture-arguments.ts';
import type { PictureLimits } from './picture-limits.ts';

/** A JPEG without an end within the maximum size. */
export class JpegTooLargeError extends Error {
  override readonly name = 'JpegTooLargeError';
}

const markers = { start: 0xd8, end: 0xd9, scan: 0xda, min: 0xc0, restart: [0xd0, 0xd7] } as const;
const startBytes = Buffer.from([0xff, markers.start, 0xff]);
const minCapacity = 64 * 1024;

/**
 * Creates a splitter of a byte stream that finds JPEGs by their own structure. Boundaries and lengths between them are
 * ignored, because servers omit them or state wrong ones. Thumbnails are skipped with the segment that has them.
 * `maxBytes` bounds one JPEG, and so the memory of the splitter. Each byte is read once, also if it is malformed.
 */
export function createJpegSplitter({ maxBytes }: { maxBytes: number }) {
  let buffer = Buffer.alloc(minCapacity);
  /** Span of the buffer that is not returned or dropped. */
  let [from, to] = [0, 0];
  /** Position up to which the JPEG at `from` is read; null before its start is found. */
  let readTo: number | null = null;
  let inScan = false;
  return {
    /**
     * Returns copies of the JPEGs that end in the chunk, oldest first, from start to end marker. Throws
     * `JpegTooLargeError` if one exceeds the maximum size.
     */
    push(chunk: Uint8Array): Uint8Array[] {
      append(chunk);
      const jpegs: Uint8Array[] = [];
      for (let jpeg = readNext(); jpeg !== null; jpeg = readNext()) jpegs.push(jpeg);
      if (to - from > maxBytes || jpegs.some(({ length }) => length > maxBytes))
        throw new JpegTooLargeError('JPEG is larger than allowed');
      return jpegs;
    },
    /** Returns true in the middle of a JPEG. */
    isWithin: () => readTo !== null,
  };

  function append(chunk: Uint8Array): void {
    const needed = to - from + chunk.length;
    const target = needed > buffer.length ? Buffer.alloc(2 * needed) : buffer;
    if (target !== buffer || to + chunk.length > buffer.length) {
      buffer.copy(target, 0, from, to);
      if (readTo !== null) readTo -= from;
      [from, to] = [0, to - from];
      buffer = target;
    }
    buffer.set(chunk, to);
    to += chunk.length;
  }

  function readNext(): Uint8Array | null {
    for (;;) {
      readTo ??= findStart();
      if (readTo === null) return null;
      const read = readOn(readTo);
      readTo = read.at;
      if (read.state === 'incomplete') return null;
      const jpeg = read.state === 'complete' ? new Uint8Array(buffer.subarray(from, readTo)) : null;
      from = readTo;
      readTo = null;
      inScan = false;
      if (jpeg !== null) return jpeg;
    }
  }

  /** Drops what precedes the next start marker. Keeps the bytes that may begin one. */
  function findStart(): number | null {
    // A search takes longer than most false starts.
    const isHere = buffer[from] === 0xff && buffer[from + 1] === markers.start && buffer[from + 2] === 0xff;
    const start = isHere ? from : buffer.indexOf(startBytes, from);
    // Behind `to` are bytes of earlier chunks.
    const isFound = start !== -1 && start + startBytes.length <= to;
    from = isFound ? start : Math.max(from, to - (startBytes.length - 1));
    return isFound ? from + 2 : null;
  }

  /**
   * Reads segments and scans. Returns the position that is read: the end of the JPEG, or the first byte that cannot
   * belong to it.
   */
  function readOn(position: number): { state: 'complete' | 'malformed' | 'incomplete'; at: number } {
    for (let here = position; ;) {
      if (inScan) here = findMarker(here);
      while (here + 1 < to && buffer[here] === 0xff && buffer[here + 1] === 0xff) here += 1;
      if (here + 2 > to) return { state: 'incomplete', at: here };
      inScan = false;
      const marker = buffer[here + 1] ?? 0;
      if (marker === markers.end && buffer[here] === 0xff) return { state: 'complete', at: here + 2 };
      if (buffer[here] !== 0xff || marker < markers.min || marker === markers.start)
        return { state: 'malformed', at: here };
      if (here + 4 > to) return { state: 'incomplete', at: here };
      const end = here + 2 + Math.max(2, buffer.readUInt16BE(here + 2));
      if (end > to) return { state: 'incomplete', at: here };
      inScan = marker === markers.scan;
      here = end;
    }
  }

  /**
   * Returns the position of the marker that ends coded data; without one, that of the first byte which may begin it.
   */
  function findMarker(position: number): number {
    const [firstRestart, lastRestart] = markers.restart;
    for (let here = position; ; here += 2) {
      // Behind `to` are bytes of earlier chunks.
      while (here < to && buffer[here] !== 0xff) here += 1;
      const next = buffer[here + 1] ?? 0;
      const isData = next === 0 || (next >= firstRestart && next <= lastRestart);
      if (here + 2 > to || !isData) return Math.min(here, to);
    }
  }
}

/** JPEG of a stream, with the time of its arrival on the clock of `elapsedMs`. */
export type Picture = { jpeg: Uint8Array; atMs: number };

/** Body whose JPEG is not whole: many cameras write the picture while they serve it. */
export class IncompletePictureError extends StreamFetchError {
  override name = 'IncompletePictureError';
}

/** Returns the error of a picture that has its end, but not all of its data. */
export function damagedPicture(message?: string, options?: ErrorOptions): IncompletePictureError {
  return new IncompletePictureError(
    'The picture is a damaged JPEG. Check that it is whole in a browser, then try again.',
    message,
    { ...options, isDamaged: true },
  );
}

/**
 * Yields the pictures of a stream as they arrive; of several that arrive together, the newest, or the first: behind the
 * picture of a snapshot may be its preview. Throws `StreamFetchError` for one that cannot be decoded within the limits,
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

const slotMs = 1000 / clipFramesPerSecond;
const minPerSecond = 2;

/**
 * Returns the pictures of a clip, one for each of its frames: the newest whole one that has arrived by then. Pictures
 * between them are dropped. Throws `StreamFetchError` for a stream with too few or too large ones.
 */
export async function readClip(
  pictures: AsyncIterable<Picture>,
  seconds: number,
  limits: PictureLimits,
  isWhole: (jpeg: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array[]> {
  const wanted = Math.round(seconds * clipFramesPerSecond);
  const frames: Uint8Array[] = [];
  let [before, shown]: [Picture | undefined, Uint8Array | undefined] = [undefined, undefined];
  let [startMs, bytes, isDamaged] = [0, 0, false];
  for await (const picture of pictures) {
    const due = Math.min(wanted, Math.ceil((picture.atMs - startMs) / slotMs) - 1);
    const missing = Math.max(0, due - frames.length);
    if (before && missing > 0) {
      if (await isWhole(before.jpeg)) shown = before.jpeg;
      else isDamaged = true;
    }
    if (!before || (missing > 0 && !shown)) startMs = picture.atMs;
    else if (shown) {
      const frame = shown;
      bytes += missing === 0 || frames.at(-1) === frame ? 0 : frame.length;
      frames.push(...Array.from({ length: missing }, () => frame));
    }
    if (bytes > limits.clipBytes) throw tooLarge();
    if (frames.length === wanted) return requireMotion(frames, seconds, isDamaged);
    before = picture;
  }
  throw new StreamFetchError(
    'The stream ended during the clip. Try again, or use input_mode "frames".',
    clipFailed,
    { isDamaged },
  );
}

const clipFailed = 'Failed to capture video clip from stream';

function requireMotion(frames: Uint8Array[], seconds: number, isDamaged: boolean): Uint8Array[] {
  const different = new Set(frames).size;
  if (different >= seconds * minPerSecond) return frames;
  throw new StreamFetchError(
    `The stream sent ${different} ${isDamaged ? 'whole ' : ''}pictures in ${seconds} s, and a clip needs ${minPerSecond} per second. Use input_mode "frames", or raise the frame rate of the camera.`,
    clipFailed,
    { isDamaged },
  );
}

function tooLarge(): StreamFetchError {
  return new StreamFetchError(
    'The pictures are too large for a clip. Use input_mode "frames", a shorter clip, or smaller pictures.',
    clipFailed,
  );
}

/** Returns true if the stream sends enough pictures for a clip, by those after the first one. */
export async function hasMotion(
  pictures: AsyncIterator<Picture>,
  wait: <T>(milliseconds: number, work: Promise<T>, expire: () => T) => Promise<T>,
): Promise<boolean> {
  const ended = { done: true, value: undefined } as const;
  // Some servers send their first picture twice.
  for (const _ of [1, 2]) {
    const next: IteratorResult<Picture> = await wait<IteratorResult<Picture>>(
      probedMs,
      pictures.next(),
      () => ended,
    );
    if (next.done === true) return false;
  }
  return true;
}

/** Maximum time between two pictures, with some tolerance, in milliseconds. */
const probedMs = 1.2 * (1000 / minPerSecond);
