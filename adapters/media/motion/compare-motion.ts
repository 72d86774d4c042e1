import { thumbnail } from '../../../core/capture.ts';
import type { CompareMotion, MotionComparison } from '../../../core/motion.ts';
import { blurPlanes } from './blur.ts';
import { type Changes, changedPixels } from './changed-pixels.ts';
import { largestComponent } from './components.ts';
import { learnNoise, quietNoiseMap } from './noise-map.ts';
import { isBlack, isIdentical, traceOf } from './picture-health.ts';
import { planesOf, thumbnailOf } from './planes.ts';
import { decodeState, encodeState, type MotionState } from './state-codec.ts';

const pixels = thumbnail.width * thumbnail.height;
/** The smallest connected change that counts: a box of about 20 px in a 720p picture. */
const leastComponent = 6;
/** Scattered change counts from this share of the picture. */
const leastShare = 0.004;
/** From this share on nothing learned may hide it. */
const unmistakableShare = 0.5;

/**
 * Compares a thumbnail with the last picture that the model saw, so that slow change adds up.
 * Throws `RangeError` if `picture` is no whole thumbnail.
 */
export const compareMotion: CompareMotion = (picture, state) => {
  const remembered = decodeState(state);
  return remembered === null ? firstPicture(picture) : nextPicture(picture, remembered);
};

function firstPicture(picture: Uint8Array): MotionComparison {
  const current = look(picture);
  const state = encodeState({ ...current.remember, noise: quietNoiseMap() });
  return {
    moved: true,
    changedShare: 1,
    black: current.black,
    identicalToPrevious: false,
    stateIfLooked: state,
    stateIfSkipped: state,
  };
}

function nextPicture(picture: Uint8Array, remembered: MotionState): MotionComparison {
  const current = look(picture);
  const changes = changedPixels(planesOf(remembered.reference), current.blurred, remembered.noise);
  const state = { ...current.remember, noise: learnNoise(remembered.noise, changes.lumaDistance) };
  return {
    ...verdict(changes),
    black: current.black,
    identicalToPrevious: isIdentical(remembered.previousTrace, state.previousTrace),
    stateIfLooked: encodeState(state),
    stateIfSkipped: encodeState({ ...state, reference: remembered.reference }),
  };
}

function look(picture: Uint8Array) {
  const planes = planesOf(picture);
  const blurred = blurPlanes(planes);
  const remember = { reference: thumbnailOf(blurred), previousTrace: traceOf(planes.luma) };
  return { black: isBlack(planes), blurred, remember };
}

function verdict(changes: Changes): { moved: boolean; changedShare: number } {
  const unmistakable = changes.countWithoutNoiseMap > unmistakableShare * pixels;
  return {
    moved:
      unmistakable ||
      changes.count > leastShare * pixels ||
      largestComponent(changes.mask, thumbnail.width) >= leastComponent,
    changedShare: (unmistakable ? changes.countWithoutNoiseMap : changes.count) / pixels,
  };
}
