import { thumbnail } from '../../../core/records/capture.ts';
import { createRegionMask } from '../../../core/records/region.ts';
import type { CompareMotion, MotionComparison } from '../../../core/records/motion.ts';
import { type Changes, type Differences, weighDifferences } from './changed-pixels.ts';
import { compareSeries } from './compare-series.ts';
import { componentWeights } from './components.ts';
import { isIdentical } from './frame-health.ts';
import { noiseAllowance, learnNoise, quietNoiseMap } from './noise-map.ts';
import { minMotionArea, updateFlakeArea } from './precipitation.ts';
import { prepareThumbnail, type ThumbnailWork } from './prepare-thumbnail.ts';
import { decodeReference, decodeState, encodeState, type Learned } from './state-codec.ts';
import { fullWeight } from './threshold.ts';
import { type MotionTuning, motionTuning } from './tuning.ts';

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
    const before = earlier.map((thumbnail) => prepare(thumbnail, tuning));
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

/** Compares a prepared thumbnail whose distances from a reference are measured. `watched` is a mask of the pixels that count, `null` for all. */
function compareWork(
  work: ThumbnailWork,
  { trace, noise, flakeArea }: Learned,
  differences: Differences,
  tuning: MotionTuning,
  watched: Uint8Array | null,
) {
  const allowance = noiseAllowance(noise, tuning.learnedShare);
  const found = weighDifferences(differences, allowance);
  const changes = watched === null ? { ...found, watchedPixels: pixels } : maskChanges(found, watched);
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
  const weights = changes.weights.map((weight, at) => (watched[at] === 1 ? weight : 0));
  const beyondDoubt = changes.beyondDoubt.map((pixel, at) => (watched[at] === 1 ? pixel : 0));
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
