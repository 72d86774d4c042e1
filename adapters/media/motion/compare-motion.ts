import { thumbnail } from '../../../core/capture.ts';
import type { CompareMotion, MotionComparison } from '../../../core/motion.ts';
import { blurPlanes } from './blur.ts';
import { type Changes, changedPixels } from './changed-pixels.ts';
import { componentWeights } from './components.ts';
import { allowanceOf, learnNoise, quietNoiseMap } from './noise-map.ts';
import { isBlack, isIdentical, traceOf } from './picture-health.ts';
import { planesOf, thumbnailOf } from './planes.ts';
import { decodeState, encodeReference, encodeState, type MotionState } from './state-codec.ts';
import { certain } from './threshold.ts';
import { type MotionTuning, motionTuning } from './tuning.ts';
import { leastAreaIn, learnFlakes } from './weather.ts';

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
    const { blurred, learned, ...comparison } = decide(picture, remembered, tuning);
    return {
      ...comparison,
      stateIfLooked: encodeState(encodeReference(thumbnailOf(blurred)), learned),
      stateIfSkipped: encodeState(remembered.encoded, learned),
    };
  };
}

function firstPicture(picture: Uint8Array): MotionComparison {
  const planes = planesOf(picture);
  const learned = { trace: traceOf(planes.luma), noise: quietNoiseMap(), flakeArea: 0 };
  const state = encodeState(encodeReference(thumbnailOf(blurPlanes(planes))), learned);
  return {
    moved: true,
    changedShare: 1,
    black: isBlack(planes),
    identicalToPrevious: false,
    stateIfLooked: state,
    stateIfSkipped: state,
  };
}

/** Compares a thumbnail with a decoded state. */
export function decide(picture: Uint8Array, remembered: MotionState, tuning: MotionTuning) {
  const planes = planesOf(picture);
  const blurred = blurPlanes(planes);
  const { trace, noise, flakeArea } = remembered.learned;
  const allowance = allowanceOf(noise, tuning.learnedShare);
  const changes = changedPixels(planesOf(remembered.reference), blurred, allowance, tuning);
  const components = componentWeights(changes.weights, thumbnail.width);
  const newest = traceOf(planes.luma);
  return {
    ...verdict(changes, components, leastAreaIn(flakeArea, tuning), tuning),
    black: isBlack(planes),
    identicalToPrevious: isIdentical(trace, newest),
    blurred,
    learned: {
      trace: newest,
      noise: learnNoise(noise, changes.lumaDistance, tuning.learnedInside),
      flakeArea: learnFlakes(flakeArea, components),
    },
  };
}

function verdict(
  { countWithoutNoiseMap }: Changes,
  components: readonly number[],
  leastArea: number,
  { unmistakableShare }: MotionTuning,
): { moved: boolean; changedShare: number } {
  const unmistakable = countWithoutNoiseMap > unmistakableShare * pixels;
  const changed = components.reduce((total, weight) => total + weight, 0) / certain;
  return {
    moved: unmistakable || (components[0] ?? 0) >= leastArea * certain,
    changedShare: (unmistakable ? countWithoutNoiseMap : changed) / pixels,
  };
}
