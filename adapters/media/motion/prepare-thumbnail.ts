import { blurPlanes } from './blur.ts';
import { type Differences, measureDifferences } from './changed-pixels.ts';
import { computeFingerprint, isBlack } from './frame-health.ts';
import { joinPlanes, type Planes, splitPlanes } from './planes.ts';
import { type DecodedState, encodeReference } from './state-codec.ts';
import type { MotionTuning } from './tuning.ts';

/** Parts of a comparison that depend on the thumbnail, but not on the noise that a job has learned. */
export type ThumbnailWork = {
  blurred: Planes;
  trace: Uint8Array;
  black: boolean;
  /** Returns the thumbnail as an encoded reference. */
  encode(): string;
  /** Returns the distances from a reference. */
  measure(reference: DecodedState): Differences;
  /** Returns the distances from another thumbnail. */
  measureFrom(other: ThumbnailWork): Differences;
};

/** Prepares a thumbnail for comparisons. */
export function prepareThumbnail(picture: Uint8Array, tuning: MotionTuning): ThumbnailWork {
  const planes = splitPlanes(picture);
  const blurred = blurPlanes(planes);
  return {
    blurred,
    trace: computeFingerprint(planes.luma),
    black: isBlack(planes),
    encode: () => encodeReference(joinPlanes(blurred)),
    measure: ({ reference }) => measureDifferences(splitPlanes(reference), blurred, tuning),
    measureFrom: (other) => measureDifferences(other.blurred, blurred, tuning),
  };
}
