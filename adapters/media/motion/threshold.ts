import { binOf, noDifferences, takeShare } from './differences.ts';
import type { MotionTuning } from './tuning.ts';

/** The noise of a cell is what 95 % of its pixels stay below, that of the picture the median over the cells: a thing disturbs only its own. */
const quietShare = 0.95;
const columns = 8;
const rows = 5;

/** The distance in levels at which a pixel has changed beyond doubt. Follows the noise of this very picture. */
export function thresholdFor(distance: Uint8Array, width: number, tuning: MotionTuning): number {
  const threshold = tuning.leastThreshold + tuning.noiseFactor * noiseOf(distance, width);
  return Math.min(threshold, tuning.mostThreshold);
}

function noiseOf(distance: Uint8Array, width: number): number {
  const [cellWidth, cellHeight] = [width / columns, distance.length / width / rows];
  const levels = new Uint8Array(columns * rows);
  const seen = noDifferences();
  for (let cell = 0; cell < levels.length; cell += 1) {
    const corner = Math.floor(cell / columns) * cellHeight * width + (cell % columns) * cellWidth;
    for (let row = corner; row < corner + cellHeight * width; row += width) {
      for (let at = row; at < row + cellWidth; at += 1) {
        const bin = binOf(distance[at] ?? 0);
        seen[bin] = (seen[bin] ?? 0) + 1;
      }
    }
    levels[cell] = takeShare(seen, cellWidth * cellHeight, quietShare);
  }
  return levels.toSorted()[levels.length >> 1] ?? 0;
}

/** A pixel that has changed beyond doubt. */
export const certain = 16;

/**
 * How much a pixel counts at each distance: the square of its share of the threshold, so that a large faint thing weighs as much as a
 * small clear one, and noise next to nothing. In sixteenths, at most one whole; index 0 to 255.
 */
export function weightsFor(threshold: number, { faintShare }: MotionTuning): Uint8Array {
  const weights = new Uint8Array(256);
  for (let level = 0; level < 256; level += 1) {
    const share = level / threshold;
    if (share >= faintShare) weights[level] = Math.min(share * share, 1) * certain;
  }
  return weights;
}
