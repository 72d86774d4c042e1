import { compareMotion } from '../../adapters/media/motion/compare-motion.ts';
import { rules } from '../../core/rules.ts';
import { thumbnail } from '../../core/records/capture.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import { componentWeights } from '../../adapters/media/motion/components.ts';

/** Detector that reads the thumbnails of one clip in order and returns true for motion. */
export type Detector = (picture: Uint8Array) => boolean;

/** All detectors by name. */
export const detectors: Record<string, () => Detector> = {
  watchpost: () => asInAJob(compareMotion),
  'previous frame': previousFrame,
  'running average': runningAverage,
};

/**
 * Wraps a comparison with the state of a job and its forced checks, which move the reference but are no detection.
 */
export function asInAJob(compare: CompareMotion): Detector {
  let state: string | null = null;
  let skipped = 0;
  return (picture) => {
    const {
      moved,
      stateWithNewReference: stateIfLooked,
      stateWithSameReference: stateIfSkipped,
    } = compare(picture, state);
    const looked = moved || skipped >= rules.forceCheckAfterSkips;
    state = looked ? stateIfLooked : stateIfSkipped;
    skipped = looked ? 0 : skipped + 1;
    return moved;
  };
}

const pixels = thumbnail.width * thumbnail.height;

/**
 * Detects motion like many small programs: more than 15 levels on more than 0.1 % of the luma of two consecutive
 * frames.
 */
export function previousFrame(): Detector {
  let before: Uint8Array | null = null;
  return (picture) => {
    const moved = before === null || isDifferent(before, picture);
    before = picture;
    return moved;
  };
}

/** Returns true if two thumbnails differ by these limits. */
export function isDifferent(before: Uint8Array, now: Uint8Array): boolean {
  let changed = 0;
  for (let at = 0; at < pixels; at += 1) {
    if (Math.abs(now[at]! - before[at]!) > 15) changed += 1;
  }
  return changed > pixels * 0.001;
}

/**
 * Detects motion like Frigate with its defaults, at thumbnail size. Stretches contrast from the 4th to the 96th
 * percentile and blurs with 3×3. Detects a difference to a running average above 30, after dilation, with a contour
 * of at least 10 px. More than 80 % is lightning and resets it. Its average learns 1 % per frame at 5 frames per
 * second, which never converges at one frame per 10 s. So 20 % is used, as in its calibration.
 */
function runningAverage(): Detector {
  let average: Float32Array | null = null;
  return (picture) => {
    const now = blurred(stretched(picture));
    if (average === null) {
      average = Float32Array.from(now);
      return true;
    }
    const mask = new Uint8Array(pixels);
    let changed = 0;
    for (let at = 0; at < pixels; at += 1) {
      if (Math.abs(now[at]! - average[at]!) > 30) {
        mask[at] = 1;
        changed += 1;
      }
    }
    const lightning = changed > pixels * 0.8;
    const follow = lightning ? 1 : 0.2;
    for (let at = 0; at < pixels; at += 1) average[at] = average[at]! + (now[at]! - average[at]!) * follow;
    return !lightning && maxComponent(dilated(mask)) >= 10;
  };
}

function stretched(picture: Uint8Array): Float32Array {
  const luma = picture.subarray(0, pixels);
  const sorted = luma.toSorted();
  const low = sorted[Math.floor(pixels * 0.04)]!;
  const high = sorted[Math.floor(pixels * 0.96)]!;
  const gain = high > low ? 255 / (high - low) : 1;
  return Float32Array.from(luma, (level) => Math.min(Math.max((level - low) * gain, 0), 255));
}

function blurred(levels: Float32Array): Float32Array {
  return levels.map((level, at) => {
    const row = at - (at % thumbnail.width);
    if (at < thumbnail.width || at >= pixels - thumbnail.width || at === row) return level;
    let total = 0;
    for (const above of [-thumbnail.width, 0, thumbnail.width]) {
      total += levels[at + above - 1]! + levels[at + above]! + (levels[at + above + 1] ?? level);
    }
    return total / 9;
  });
}

function dilated(mask: Uint8Array): Uint8Array {
  const grown = mask.slice();
  for (let at = 0; at < pixels; at += 1) {
    if (mask[at] === 0) continue;
    for (const near of [at - 1, at + 1, at - thumbnail.width, at + thumbnail.width]) {
      if (near >= 0 && near < pixels) grown[near] = 1;
    }
  }
  return grown;
}

/** Returns the size of the largest 8-connected group of set pixels. */
function maxComponent(mask: Uint8Array): number {
  return componentWeights(mask, thumbnail.width)[0] ?? 0;
}
