import { fullWeight } from './threshold.ts';
import type { MotionTuning } from './tuning.ts';

/**
 * Rank of the component that estimates flake size. Snow and heavy rain cause many small changes in every frame, so
 * the minimum area follows the usual size of the sixth largest. Few scenes have six equal objects that change at
 * every check, and an object above `maxArea` always counts.
 */
const rank = 5;

/** Returns the minimum area of the largest component, in pixels, for a learned flake area. */
export function minMotionArea(flakeArea: number, { minArea, maxArea, weatherFactor }: MotionTuning): number {
  return Math.min(Math.max(minArea, flakeArea * weatherFactor), maxArea);
}

/** Updates the flake area, in whole pixels: rises by half of the difference, falls by an eighth per tick. */
export function updateFlakeArea(flakeArea: number, components: readonly number[]): number {
  const seen = Math.min(Math.round((components[rank] ?? 0) / fullWeight), 255);
  return seen > flakeArea ? (flakeArea + seen + 1) >> 1 : Math.max(seen, flakeArea - 1 - (flakeArea >> 3));
}
