import { StreamFetchError } from '../../../core/errors.ts';
import { clipFramesPerSecond } from '../ffmpeg/capture-arguments.ts';
import type { PictureLimits } from './picture-limits.ts';
import type { Picture } from './read-pictures.ts';

const slotMs = 1000 / clipFramesPerSecond;
/** Minimum pictures per second of a clip. */
const minPerSecond = 2;

/**
 * Returns the pictures of a clip, one for each of its frames: the newest that has arrived by then. Pictures between them are dropped. Throws
 * `StreamFetchError` for a stream with too few or too large ones.
 */
export async function readClip(
  pictures: AsyncIterable<Picture>,
  seconds: number,
  limits: PictureLimits,
): Promise<Uint8Array[]> {
  const wanted = Math.round(seconds * clipFramesPerSecond);
  const frames: Uint8Array[] = [];
  let before: Picture | undefined;
  let startMs = 0;
  let bytes = 0;
  for await (const picture of pictures) {
    if (before === undefined) startMs = picture.atMs;
    const newest: Uint8Array = before?.jpeg ?? picture.jpeg;
    while (frames.length < wanted && startMs + (frames.length + 1) * slotMs < picture.atMs) {
      bytes += frames.at(-1) === newest ? 0 : newest.length;
      frames.push(newest);
    }
    if (bytes > limits.clipBytes) throw tooLarge();
    if (frames.length === wanted) return requireMotion(frames, seconds);
    before = picture;
  }
  throw new StreamFetchError(
    'The stream ended during the clip. Try again, or use input_mode "frames".',
    clipFailed,
  );
}

const clipFailed = 'Failed to capture video clip from stream';

function requireMotion(frames: Uint8Array[], seconds: number): Uint8Array[] {
  const different = new Set(frames).size;
  if (different >= seconds * minPerSecond) return frames;
  throw new StreamFetchError(
    `The stream sent ${different} pictures in ${seconds} s, and a clip needs ${minPerSecond} per second. Use input_mode "frames", or raise the frame rate of the camera.`,
    clipFailed,
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
