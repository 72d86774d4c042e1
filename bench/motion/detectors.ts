import { rules } from '../../core/rules.ts';
import { thumbnail } from '../../core/records/capture.ts';
import type { CompareMotion } from '../../core/records/motion.ts';

/** Detector that reads the thumbnails of one clip in order and returns true for motion. */
export type Detector = (picture: Uint8Array) => boolean;

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
