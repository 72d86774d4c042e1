import { certain } from './threshold.ts';
import type { MotionTuning } from './tuning.ts';

/**
 * Snow and heavy rain are many small changes at once, new ones in every picture; a thing is one that stands out from them. So the area
 * from which on a change counts follows the usual size of the sixth largest: few scenes have six things of the same size that
 * change at every look, and those of more than `mostArea` count in any case.
 */
const rank = 5;

/** Area in pixels from which on the heaviest component counts, with the area of flakes that were seen so far. */
export function leastAreaIn(flakeArea: number, { leastArea, mostArea, weatherFactor }: MotionTuning): number {
  return Math.min(Math.max(leastArea, flakeArea * weatherFactor), mostArea);
}

/** Follows half of what is new and forgets an eighth a tick, in whole pixels. */
export function learnFlakes(flakeArea: number, components: readonly number[]): number {
  const seen = Math.min(Math.round((components[rank] ?? 0) / certain), 255);
  return seen > flakeArea ? (flakeArea + seen + 1) >> 1 : Math.max(seen, flakeArea - 1 - (flakeArea >> 3));
}
