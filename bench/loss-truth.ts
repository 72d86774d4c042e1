import { thumbnail } from '../core/records/capture.ts';
import { thumbnailFilter } from '../adapters/media/ffmpeg/capture-arguments.ts';
import { collectOutput, words } from './streams.ts';

/** Seconds and frames per second of the scene. */
export const scene = { seconds: 3, rate: 10 };
/**
 * Blocks of a level each, which depends on their place and on the frame: no region of a picture is that of another one.
 */
const luma = '16+mod(X*X*7+Y*Y*13+X*Y*5+N*N*31+X*N*17+Y*N*23,211)';
const chroma = '64+mod(X*37+Y*59+N*41,128)';
export const sceneArguments = [
  ...words('-f lavfi -i'),
  `nullsrc=size=64x36:rate=${scene.rate},format=yuv420p,geq=lum='${luma}':cb='${chroma}':cr='${chroma}',scale=320:180:flags=neighbor,setsar=1`,
  ...words(`-t ${scene.seconds}`),
];
const small = ['-vf', thumbnailFilter, ...words('-f rawvideo pipe:1')];
/** Maximum of the mean difference in a cell: encoders change levels by some, a concealed block by 70 on average. */
const maxDifference = 20;
const cells = { columns: 10, rows: 10 };

/** Returns a function that tells whether a picture is a frame of the scene, in each of its parts. */
export async function openTruth(ffmpegPath: string) {
  const { width, height, bytes } = thumbnail;
  const split = (joined: Buffer) =>
    Array.from({ length: Math.floor(joined.length / bytes) }, (_, index) =>
      joined.subarray(index * bytes, (index + 1) * bytes),
    );
  const frames = split(await collectOutput(ffmpegPath, [...sceneArguments, ...small]));
  const wasSent = (picture: Uint8Array) => frames.some((frame) => isEqual(frame, picture));
  /** Returns true if ffmpeg alone gives a frame of the scene. */
  const givesWhole = async (source: readonly string[]) =>
    split(await collectOutput(ffmpegPath, [...source, ...small]).catch(() => Buffer.alloc(0))).some(wasSent);
  /** Returns true if all frames of a clip are of the scene. */
  const wasClipSent = async (file: string) =>
    split(await collectOutput(ffmpegPath, ['-i', file, ...small])).every(wasSent);
  return { wasSent, givesWhole, wasClipSent };

  function isEqual(frame: Uint8Array, picture: Uint8Array): boolean {
    const [cellWidth, cellHeight] = [width / cells.columns, height / cells.rows];
    for (let top = 0; top < height; top += cellHeight)
      for (let left = 0; left < width; left += cellWidth) {
        let sum = 0;
        for (let y = top; y < top + cellHeight; y += 1)
          for (let index = y * width + left, end = index + cellWidth; index < end; index += 1)
            sum += Math.abs((frame[index] ?? 0) - (picture[index] ?? 0));
        if (sum > maxDifference * cellWidth * cellHeight) return false;
      }
    return true;
  }
}
