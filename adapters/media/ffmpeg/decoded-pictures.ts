import { thumbnail } from '../../../core/records/capture.ts';
import type { FfmpegOutcome } from './spawn-ffmpeg.ts';

/** Pictures in the output of ffmpeg: frames as JPEG, thumbnails of the same frames, and their times. */

/** `frame` is a JPEG of at most 896 px width, `thumbnail` planar yuv420p of the same frame. */
export type DecodedPicture = { frame: Uint8Array; thumbnail: Uint8Array };

/** Frame of a group of pictures, and its time on the clock of the group, in seconds. */
export type TimedPicture = DecodedPicture & { seconds: number };

/** Returns the last frame with its thumbnail; undefined unless both are whole. */
export function lastPictures(outcome: FfmpegOutcome): DecodedPicture | undefined {
  const frame = lastJpeg(outcome.fd3);
  const thumbnails = outcome.stdout;
  if (
    frame === undefined ||
    thumbnails.length < thumbnail.bytes ||
    thumbnails.length % thumbnail.bytes !== 0
  ) {
    return undefined;
  }
  return { frame, thumbnail: thumbnails.slice(-thumbnail.bytes) };
}

/** Levels of blue and red that no color has together (ITU-R BT.601 and BT.709: the purest green has 26 and 42). */
const maxHoleLevel = 18;

/**
 * Returns true if thumbnails show a part that was not decoded, of which the decoder of H.265 says nothing: its memory
 * is 0 in all planes.
 */
export function hasHole(thumbnails: Uint8Array): boolean {
  const { width, height, bytes } = thumbnail;
  const [blueAt, redAt] = [width * height, (width * height * 5) / 4];
  for (let start = 0; start < thumbnails.length; start += bytes)
    for (let blue = start + blueAt, red = start + redAt; red < start + bytes; blue += 1, red += 1)
      if (Math.max(thumbnails[blue] ?? 0, thumbnails[red] ?? 0) <= maxHoleLevel) return true;
  return false;
}

/** Returns the frames that have both pictures: none if ffmpeg was cut off between the two. */
export function allPictures({ fd3, stdout }: FfmpegOutcome): DecodedPicture[] {
  const frames = splitJpegs(Buffer.from(fd3.buffer, fd3.byteOffset, fd3.byteLength));
  if (stdout.length !== frames.length * thumbnail.bytes) return [];
  return frames
    .map((frame, index) => ({
      frame,
      thumbnail: stdout.slice(index * thumbnail.bytes, (index + 1) * thumbnail.bytes),
    }))
    .filter((picture) => !hasHole(picture.thumbnail));
}

/** Returns the frames that have a time and both pictures: a run that was ended has written a part of the last one. */
export function timedPictures({ fd3, fd4, stdout }: FfmpegOutcome): TimedPicture[] {
  const frames = splitJpegs(Buffer.from(fd3.buffer, fd3.byteOffset, fd3.byteLength));
  const times =
    Buffer.from(fd4)
      .toString()
      .match(/^-?\d+(?=\n)/gm) ?? [];
  return frames.flatMap((frame, index) => {
    const small = stdout.slice(index * thumbnail.bytes, (index + 1) * thumbnail.bytes);
    const milliseconds = times[index];
    if (small.length < thumbnail.bytes || milliseconds === undefined) return [];
    return [{ frame, thumbnail: small, seconds: Number(milliseconds) / 1000 }];
  });
}

const jpegEnd = Buffer.from([0xff, 0xd9]);

function splitJpegs(bytes: Buffer): Uint8Array[] {
  const jpegs: Uint8Array[] = [];
  for (let from = 0, end = bytes.indexOf(jpegEnd); end >= 0; end = bytes.indexOf(jpegEnd, from)) {
    jpegs.push(new Uint8Array(bytes.subarray(from, end + jpegEnd.length)));
    from = end + jpegEnd.length;
  }
  return jpegs;
}

/**
 * Returns the last complete JPEG. The start marker cannot occur inside compressed data, because JPEG stuffs every
 * 0xFF.
 */
function lastJpeg(bytes: Uint8Array): Uint8Array | undefined {
  const pictures = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = pictures.lastIndexOf(Buffer.from([0xff, 0xd8, 0xff]));
  const whole = start >= 0 && pictures.subarray(-2).equals(Buffer.from([0xff, 0xd9]));
  return whole ? bytes.slice(start) : undefined;
}
