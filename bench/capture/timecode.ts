import { createImageDecoder } from '../../adapters/media/ffmpeg/decode-image.ts';

/**
 * Timecode: the number of each frame as eleven black or white boxes along the top, which survive scaling and
 * compression.
 */

/** Frame rate of the loop. */
export const framesPerSecond = 30;
/** Length of the loop after which the number restarts, in seconds. */
export const loopSeconds = 60;

const bits = 11;
const boxShare = 1 / 16;
/**
 * Size for reading. Both sizes are 16:9, and a box has 4 × 3.6 px. Larger pictures would fill the memory of this process, and the garbage collector
 * would run during the captures that are measured.
 */
const readSize = { width: 64, height: 36 };

/** Filter that draws the timecode into a 16:9 video. */
export const burnInTimecode = [
  'drawbox=x=0:y=0:w=iw:h=ih/10:color=black:t=fill',
  ...Array.from(
    { length: bits },
    (_, bit) =>
      `drawbox=x=iw*${bit * boxShare}:y=0:w=iw*${boxShare}:h=ih/10:color=white:t=fill:enable='mod(floor(n/${2 ** bit}),2)'`,
  ),
].join(',');

/** Reads the timecode of a JPEG, in seconds since the start of the loop. */
export async function readTimecode(jpeg: Uint8Array, ffmpegPath: string): Promise<number> {
  const decoder = createImageDecoder({ ffmpegPath });
  return readSeconds(await decoder.decode(jpeg, readSize, AbortSignal.timeout(20_000)));
}

/** Reads the timecode of a clip's last frame. */
export async function readLastTimecode(mp4: Uint8Array, ffmpegPath: string): Promise<number> {
  const decoder = createImageDecoder({ ffmpegPath });
  const pictures = await decoder.decodeClip(mp4, readSize, 8, AbortSignal.timeout(20_000));
  return readSeconds(pictures.at(-1)!);
}

function readSeconds(rgb: Uint8Array): number {
  const row = Math.round(readSize.height / 20);
  let frame = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const column = Math.round((bit + 0.5) * boxShare * readSize.width);
    if (rgb[(row * readSize.width + column) * 3]! > 128) frame += 2 ** bit;
  }
  return frame / framesPerSecond;
}
