import type { ObjectClass } from './classes.ts';

/** Rectangle in shares of the image, 0 to 1, from the top left corner. */
export type Box = { x: number; y: number; width: number; height: number };

/** Object that a detector reports. The score is a rank from 0 to 1, not a probability. */
export type Detection = { object: ObjectClass; score: number; box: Box };

/** Size of an image, in pixels. */
export type PictureSize = { width: number; height: number };

/** Image in packed RGB, `width * height * 3` bytes. */
export type Picture = PictureSize & { rgb: Uint8Array };

/**
 * Detector of objects in an image. Replaceable: the model needs classes of COCO, boxes and scores, nothing else. Throws
 * `DetectorError` if it cannot run, `DetectorBusyError` if too many calls wait, and the reason of an aborted signal.
 */
export type ObjectDetector = {
  /** Returns the input size for an image of these proportions. */
  inputSize(picture: PictureSize): PictureSize;
  /** Returns detections with a score of at least 0.05, best first. The image has an `inputSize`. */
  detect(picture: Picture, signal: AbortSignal): Promise<Detection[]>;
  /** Frees its memory. A later `detect` starts it again. */
  close(): Promise<void>;
};

/** The detector has too many images to look at. */
export class DetectorBusyError extends Error {
  override name = 'DetectorBusyError';
}

/** Failure of a detector, such as a damaged package. */
export class DetectorError extends Error {
  override name = 'DetectorError';
}

/** Input sizes of the network: multiples of 32, 512 on the longer side. Each loads a graph of its own. */
const inputSizes: [PictureSize, ...PictureSize[]] = [
  { width: 512, height: 288 },
  { width: 512, height: 384 },
  { width: 512, height: 512 },
  { width: 384, height: 512 },
  { width: 288, height: 512 },
];

/** Returns the input size whose proportions are nearest to those of an image, so that it is hardly stretched. */
export function nearestInputSize({ width, height }: PictureSize): PictureSize {
  const distance = (size: PictureSize) => Math.abs(Math.log((size.width / size.height) * (height / width)));
  return inputSizes.reduce((nearest, size) => (distance(size) < distance(nearest) ? size : nearest));
}
