import { createPictureDecoder } from '../../adapters/media/ffmpeg/decode-picture.ts';

/** The number of each frame burned into it, as eleven black or white boxes along the top: it survives scaling and compression. */

export const framesPerSecond = 30;
/** After which the number begins anew. */
export const loopSeconds = 60;

const bits = 11;
const boxShare = 1 / 16;
/** Both have the picture's 16:9, and no box is smaller than 20 px. */
const readSize = { width: 320, height: 180 };

/** A filter for pictures of 16:9. */
export const burnInTimecode = [
  'drawbox=x=0:y=0:w=iw:h=ih/10:color=black:t=fill',
  ...Array.from(
    { length: bits },
    (_, bit) =>
      `drawbox=x=iw*${bit * boxShare}:y=0:w=iw*${boxShare}:h=ih/10:color=white:t=fill:enable='mod(floor(n/${2 ** bit}),2)'`,
  ),
].join(',');

/** Seconds into the loop. */
export async function readTimecode(jpeg: Uint8Array, ffmpegPath: string): Promise<number> {
  const decoder = createPictureDecoder({ ffmpegPath });
  return secondsOf(await decoder.decode(jpeg, readSize, AbortSignal.timeout(20_000)));
}

/** Of a clip's last picture. */
export async function readLastTimecode(mp4: Uint8Array, ffmpegPath: string): Promise<number> {
  const decoder = createPictureDecoder({ ffmpegPath });
  const pictures = await decoder.decodeClip(mp4, readSize, 8, AbortSignal.timeout(20_000));
  return secondsOf(pictures.at(-1)!);
}

function secondsOf(rgb: Uint8Array): number {
  const row = Math.round(readSize.height / 20);
  let frame = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const column = Math.round((bit + 0.5) * boxShare * readSize.width);
    if (rgb[(row * readSize.width + column) * 3]! > 128) frame += 2 ** bit;
  }
  return frame / framesPerSecond;
}
