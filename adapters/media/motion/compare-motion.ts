import { thumbnail } from '../../../core/records/capture.ts';
import { createRegionMask } from '../../../core/records/region.ts';
import type { CompareMotion, MotionComparison, EarlierMotion } from '../../../core/records/motion.ts';
import { weighDifferences, type Changes, type Differences } from './changed-pixels.ts';
import { isIdentical } from './frame-health.ts';
import { noiseAllowance, learnNoise, quietNoiseMap } from './noise-map.ts';
import { prepareThumbnail, type ThumbnailWork } from './prepare-thumbnail.ts';
import { decodeReference, decodeState, encodeState, type Learned, type DecodedState } from './state-codec.ts';
import { fullWeight } from './threshold.ts';
import { motionTuning, type MotionTuning } from './tuning.ts';

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

const pixels = thumbnail.width * thumbnail.height;

/** Steps of a comparison that do not depend on what a job has learned. */
export type ComparisonSteps = {
  prepare: (picture: Uint8Array, tuning: MotionTuning) => ThumbnailWork;
  decodeReference: typeof decodeReference;
};

/** Motion detection with the default tuning. */
export const compareMotion: CompareMotion = createMotionComparison(motionTuning);

/**
 * Creates a comparison with the motion reference, so that slow changes add up. Throws `RangeError` if `picture` is
 * not a whole thumbnail. `steps` may return the result of an earlier comparison.
 */
export function createMotionComparison(
  tuning: MotionTuning,
  { prepare, decodeReference: read }: ComparisonSteps = { prepare: prepareThumbnail, decodeReference },
): CompareMotion {
  return (picture, state, regions = [], earlier = []) => {
    const remembered = decodeState(state, read);
    const work = prepare(picture, tuning);
    const before = earlier.map((picturedBefore) => prepare(picturedBefore, tuning));
    if (remembered === null) return firstPicture(work, before);
    const watched =
      regions.length === 0 ? null : createRegionMask(regions, thumbnail.width, thumbnail.height);
    const { newest, series } = compareSeries(before, work, remembered, (...compared) =>
      compareWork(...compared, tuning, watched),
    );
    const { learned, ...comparison } = newest;
    return {
      ...comparison,
      stateWithNewReference: encodeState(work.encode(), learned),
      stateWithSameReference: encodeState(remembered.encoded, learned),
      earlier: series,
    };
  };
}

function firstPicture(
  { trace, black, encode }: ThumbnailWork,
  earlier: readonly ThumbnailWork[],
): MotionComparison {
  const state = encodeState(encode(), { trace, noise: quietNoiseMap(), flakeArea: 0 });
  return {
    moved: true,
    changedShare: 1,
    black,
    identicalToPrevious: false,
    stateWithNewReference: state,
    stateWithSameReference: state,
    earlier: earlier.map((each) => ({
      moved: true,
      isNews: true,
      likeNewest: false,
      changedShare: 1,
      black: each.black,
    })),
  };
}

/**
 * Compares a prepared thumbnail whose distances from a reference are measured. `watched` is a mask of the pixels that
 * count, `null` for all.
 */
function compareWork(
  work: ThumbnailWork,
  { trace, noise, flakeArea }: Learned,
  differences: Differences,
  tuning: MotionTuning,
  watched: Uint8Array | null,
) {
  const allowance = noiseAllowance(noise, tuning.learnedShare);
  const weighed = weighDifferences(differences, allowance);
  const changes = watched === null ? { ...weighed, watchedPixels: pixels } : maskChanges(weighed, watched);
  const components = componentWeights(changes.weights, thumbnail.width);
  return {
    ...verdict(changes, components, minMotionArea(flakeArea, tuning), tuning),
    black: work.black,
    identicalToPrevious: isIdentical(trace, work.trace),
    learned: {
      trace: work.trace,
      noise: learnNoise(noise, differences.noise),
      flakeArea: updateFlakeArea(flakeArea, components),
    },
  };
}

type WatchedChanges = Changes & { watchedPixels: number };

/** Drops the changes outside of the watched pixels. Light and noise are learned from the whole picture. */
function maskChanges(changes: Changes, watched: Uint8Array): WatchedChanges {
  const weights = changes.weights.map((weight, index) => (watched[index] === 1 ? weight : 0));
  const beyondDoubt = changes.beyondDoubt.map((pixel, index) => (watched[index] === 1 ? pixel : 0));
  return {
    ...changes,
    weights,
    beyondDoubt,
    countWithoutNoiseMap: countPixels(beyondDoubt),
    watchedPixels: Math.max(1, countPixels(watched)),
  };
}

function countPixels(mask: Uint8Array): number {
  return mask.reduce((sum, pixel) => sum + pixel, 0);
}

function verdict(
  { countWithoutNoiseMap, watchedPixels }: WatchedChanges,
  components: readonly number[],
  minArea: number,
  { unmistakableShare }: MotionTuning,
): { moved: boolean; changedShare: number } {
  const unmistakable = countWithoutNoiseMap > unmistakableShare * watchedPixels;
  const changed = components.reduce((total, weight) => total + weight, 0) / fullWeight;
  return {
    moved: unmistakable || (components[0] ?? 0) >= minArea * fullWeight,
    changedShare: Math.min(1, (unmistakable ? countWithoutNoiseMap : changed) / watchedPixels),
  };
}

/**
 * Returns the total weight of each 8-connected group of pixels, heaviest first. Does not modify `weights`. The
 * stack holds each pixel at most once, because a pushed pixel is cleared in `open`.
 */
export function componentWeights(weights: Uint8Array, width: number): number[] {
  const open = weights.slice();
  const stack = new Uint16Array(open.length);
  const sums: number[] = [];
  for (let start = 0; start < open.length; start += 1) {
    if (open[start] === 0) continue;
    let total = open[start] ?? 0;
    open[start] = 0;
    stack[0] = start;
    let depth = 1;
    while (depth > 0) {
      depth -= 1;
      const pixel = stack[depth] ?? 0;
      const x = pixel % width;
      const from = x === 0 ? 0 : -1;
      const to = x === width - 1 ? 0 : 1;
      for (let row = pixel - width; row <= pixel + width; row += width) {
        for (let near = row + from; near <= row + to; near += 1) {
          const weight = open[near] ?? 0;
          if (weight === 0) continue;
          total += weight;
          open[near] = 0;
          stack[depth] = near;
          depth += 1;
        }
      }
    }
    sums.push(total);
  }
  return sums.toSorted((a, b) => b - a);
}

/** Comparison of one thumbnail, with what it teaches about noise. */
type Compared = {
  moved: boolean;
  changedShare: number;
  black: boolean;
  identicalToPrevious: boolean;
  learned: Learned;
};
type Compare<Result> = (work: ThumbnailWork, learned: Learned, differences: Differences) => Result;

/**
 * Compares earlier thumbnails and then the newest one with the motion reference, in the order of their times, so that
 * noise is learned from each. In a quiet scene that is one comparison for each: thumbnails of which one alone differs
 * from the reference differ from each other. A black one is no news.
 */
function compareSeries<Result extends Compared>(
  earlier: readonly ThumbnailWork[],
  newestWork: ThumbnailWork,
  remembered: DecodedState,
  compare: Compare<Result>,
): { newest: Result; series: EarlierMotion[] } {
  let { learned } = remembered;
  let isStill = true;
  let news: { work: ThumbnailWork; moved: boolean } | undefined;
  const differ = (one: ThumbnailWork, other: ThumbnailWork): boolean =>
    compare(one, learned, one.measureFrom(other)).moved;
  const compared = earlier.map((work) => {
    const comparison = compare(work, learned, work.measure(remembered));
    const { moved, changedShare, black } = comparison;
    const differs = news === undefined ? moved : news.moved !== moved || (moved && differ(work, news.work));
    const isNews = differs && !black;
    if (isNews) news = { work, moved };
    ({ learned } = comparison);
    isStill &&= comparison.identicalToPrevious;
    return { work, motion: { moved, isNews, changedShare, black } };
  });
  const newest = compare(newestWork, learned, newestWork.measure(remembered));
  ({ learned } = newest);
  const series = compared.map(({ work, motion }) => ({
    ...motion,
    likeNewest: motion.moved === newest.moved && !(motion.moved && differ(work, newestWork)),
  }));
  return { newest: { ...newest, identicalToPrevious: isStill && newest.identicalToPrevious }, series };
}
