import { framePictures } from '../../adapters/media/scan/frame-pictures.ts';
import type { Scan } from '../../core/records/capture.ts';

/** Reads the picture of a frame of a scan. */
export async function readPicture({ frames }: Pick<Scan, 'frames'>, index: number) {
  return framePictures.picture(frames[index]!, { caller: 'ada' }, AbortSignal.timeout(10_000));
}
