import { thumbnail } from '../../../core/records/capture.ts';
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
  return (picture, state) => {
    const remembered = decodeState(state);
    if (remembered === null) return firstPicture(picture);
    const { blurred, learned, ...comparison } = compareStates(picture, remembered, tuning);
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

/** Compares a thumbnail with a decoded state. */
export function compareStates(picture: Uint8Array, remembered: MotionState, tuning: MotionTuning) {
  const planes = splitPlanes(picture);
  const blurred = blurPlanes(planes);
  const { trace, noise, flakeArea } = remembered.learned;
  const allowance = noiseAllowance(noise, tuning.learnedShare);
  const changes = changedPixels(splitPlanes(remembered.reference), blurred, allowance, tuning);
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

function verdict(
  { countWithoutNoiseMap }: Changes,
  components: readonly number[],
  minArea: number,
  { unmistakableShare }: MotionTuning,
): { moved: boolean; changedShare: number } {
  const unmistakable = countWithoutNoiseMap > unmistakableShare * pixels;
  const changed = components.reduce((total, weight) => total + weight, 0) / fullWeight;
  return {
    moved: unmistakable || (components[0] ?? 0) >= minArea * fullWeight,
    changedShare: (unmistakable ? countWithoutNoiseMap : changed) / pixels,
  };
}
