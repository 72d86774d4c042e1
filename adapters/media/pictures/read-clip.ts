import { StreamFetchError } from '../../../core/errors.ts';
import { clipFramesPerSecond } from '../ffmpeg/capture-arguments.ts';
import type { PictureLimits } from './picture-limits.ts';
import type { Picture } from './read-pictures.ts';

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
