import { thumbnail } from '../../../core/records/capture.ts';
import { createRegionMask } from '../../../core/records/region.ts';
import type { CompareMotion, MotionComparison } from '../../../core/records/motion.ts';
import { blurPlanes } from './blur.ts';
import { type Changes, changedPixels } from './changed-pixels.ts';
import { componentWeights } from './components.ts';
import { noiseAllowance, learnNoise, quietNoiseMap } from './noise-map.ts';
import { isBlack, isIdentical, computeFingerprint } from './frame-health.ts';
import { splitPlanes, joinPlanes } from './planes.ts';
import { decodeState, encodeReference, encodeState, type MotionState } from './state-codec.ts';
import { fullWeight } from './threshold.ts';
import { type MotionTuning, motionTuning } from './tuning.ts';
import { minMotionArea, updateFlakeArea } from './precipitation.ts';

const pixels = thumbnail.width * thumbnail.height;

/** Motion detection with the default tuning. */
export const compareMotion: CompareMotion = createMotionComparison(motionTuning);

/**
 * Creates a comparison with the motion reference, so that slow changes add up. Throws `RangeError` if `picture` is
 * not a whole thumbnail.
 */
export function createMotionComparison(tuning: MotionTuning): CompareMotion {
  return (picture, state, regions = []) => {
    const remembered = decodeState(state);
    if (remembered === null) return firstPicture(picture);
    const watched =
      regions.length === 0 ? null : createRegionMask(regions, thumbnail.width, thumbnail.height);
    const { blurred, learned, ...comparison } = compareStates(picture, remembered, tuning, watched);
    return {
      ...comparison,
      stateWithNewReference: encodeState(encodeReference(joinPlanes(blurred)), learned),
      stateWithSameReference: encodeState(remembered.encoded, learned),
    };
  };
}

function firstPicture(picture: Uint8Array): MotionComparison {
  const planes = splitPlanes(picture);
  const learned = { trace: computeFingerprint(planes.luma), noise: quietNoiseMap(), flakeArea: 0 };
  const state = encodeState(encodeReference(joinPlanes(blurPlanes(planes))), learned);
  return {
    moved: true,
    changedShare: 1,
    black: isBlack(planes),
    identicalToPrevious: false,
    stateWithNewReference: state,
    stateWithSameReference: state,
  };
}

/** Compares a thumbnail with a decoded state. `watched` is a mask of the pixels that count, `null` for all. */
export function compareStates(
  picture: Uint8Array,
  remembered: MotionState,
  tuning: MotionTuning,
  watched: Uint8Array | null = null,
) {
  const planes = splitPlanes(picture);
  const blurred = blurPlanes(planes);
  const { trace, noise, flakeArea } = remembered.learned;
  const allowance = noiseAllowance(noise, tuning.learnedShare);
  const found = changedPixels(splitPlanes(remembered.reference), blurred, allowance, tuning);
  const changes = watched === null ? { ...found, watchedPixels: pixels } : maskChanges(found, watched);
  const components = componentWeights(changes.weights, thumbnail.width);
  const newest = computeFingerprint(planes.luma);
  return {
    ...verdict(changes, components, minMotionArea(flakeArea, tuning), tuning),
    black: isBlack(planes),
    identicalToPrevious: isIdentical(trace, newest),
    blurred,
    learned: {
      trace: newest,
      noise: learnNoise(noise, changes.lumaDistance, tuning.learnedInside),
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
