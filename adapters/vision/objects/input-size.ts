import type { PictureSize } from './detector.ts';

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
