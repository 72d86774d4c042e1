import { histogramBin, emptyHistogram, drainQuantile } from './planes.ts';
import type { MotionTuning } from './tuning.ts';

/**
 * Share of pixels that defines the noise of a cell. The noise of the frame is the median of its cells, so that an
 * object affects only its own cells.
 */
const quietShare = 0.95;
const columns = 8;
const rows = 5;

/** Returns the distance, in levels, of a certain change. It follows the noise of the current frame. */
export function thresholdFor(distance: Uint8Array, width: number, tuning: MotionTuning): number {
  const threshold = tuning.minThreshold + tuning.noiseFactor * measureNoise(distance, width);
  return Math.min(threshold, tuning.maxThreshold);
}

function measureNoise(distance: Uint8Array, width: number): number {
  const [cellWidth, cellHeight] = [width / columns, distance.length / width / rows];
  const levels = new Uint8Array(columns * rows);
  const seen = emptyHistogram();
  for (let cell = 0; cell < levels.length; cell += 1) {
    const corner = Math.floor(cell / columns) * cellHeight * width + (cell % columns) * cellWidth;
    for (let row = corner; row < corner + cellHeight * width; row += width) {
      for (let pixel = row; pixel < row + cellWidth; pixel += 1) {
        const bin = histogramBin(distance[pixel] ?? 0);
        seen[bin] = (seen[bin] ?? 0) + 1;
      }
    }
    levels[cell] = drainQuantile(seen, cellWidth * cellHeight, quietShare);
  }
  return levels.toSorted()[levels.length >> 1] ?? 0;
}

/** Weight of a pixel that has certainly changed. */
export const fullWeight = 16;

/**
 * Returns the weight of a pixel by distance, in sixteenths; index 0 to 255. It is the squared share of the
 * threshold, at most one. A large faint object weighs as much as a small clear one, and noise almost nothing.
 */
export function weightsFor(threshold: number, { faintShare }: MotionTuning): Uint8Array {
  const weights = new Uint8Array(256);
  for (let level = 0; level < 256; level += 1) {
    const share = level / threshold;
    if (share >= faintShare) weights[level] = Math.min(share * share, 1) * fullWeight;
  }
  return weights;
}
