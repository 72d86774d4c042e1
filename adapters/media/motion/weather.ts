import { certain } from './threshold.ts';
import type { MotionTuning } from './tuning.ts';

/**
 * Rank of the component that estimates flake size. Snow and heavy rain cause many small changes in every frame, so
 * the minimum area follows the usual size of the sixth largest. Few scenes have six equal objects that change at
 * every check, and an object above `mostArea` always counts.
 */
const rank = 5;

/** Returns the minimum area of the largest component, in pixels, for a learned flake area. */
export function leastAreaIn(flakeArea: number, { leastArea, mostArea, weatherFactor }: MotionTuning): number {
  return Math.min(Math.max(leastArea, flakeArea * weatherFactor), mostArea);
}

/** Updates the flake area, in whole pixels: rises by half of the difference, falls by an eighth per tick. */
export function learnFlakes(flakeArea: number, components: readonly number[]): number {
  const seen = Math.min(Math.round((components[rank] ?? 0) / certain), 255);
  return seen > flakeArea ? (flakeArea + seen + 1) >> 1 : Math.max(seen, flakeArea - 1 - (flakeArea >> 3));
}
