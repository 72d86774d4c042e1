import { type Differences, measureDifferences } from './changed-pixels.ts';
import { computeFingerprint, isBlack } from './frame-health.ts';
import { joinPlanes, type Planes, splitPlanes, type Plane } from './planes.ts';
import { type DecodedState, encodeReference } from './state-codec.ts';
import type { MotionTuning } from './tuning.ts';

/** Parts of a comparison that depend on the thumbnail, but not on the noise that a job has learned. */
export type ThumbnailWork = {
  blurred: Planes;
  trace: Uint8Array;
  black: boolean;
  encode(): string;
  measure(reference: DecodedState): Differences;
  /** Returns the distances from another thumbnail. */
  measureFrom(other: ThumbnailWork): Differences;
};

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

function blurPlanes({ luma, cb: blueness, cr: redness }: Planes): Planes {
  return { luma: blur(luma), cb: blur(blueness), cr: blur(redness) };
}

/** 3×3 mean with repeated edges. Reduces single-pixel noise by two thirds and keeps details of two pixels. */
function blur({ samples, width, height }: Plane): Plane {
  const rows = threeAcross(samples, width, height);
  const blurred = new Uint8Array(samples.length);
  const lastRow = (height - 1) * width;
  for (let row = 0; row <= lastRow; row += width) {
    const above = row === 0 ? 0 : -width;
    const below = row === lastRow ? 0 : width;
    for (let pixel = row; pixel < row + width; pixel += 1) {
      const total = (rows[pixel + above] ?? 0) + (rows[pixel] ?? 0) + (rows[pixel + below] ?? 0);
      // Division by nine with rounding, exact for every sum of nine bytes.
      blurred[pixel] = ((total + 4) * 7282) >> 16;
    }
  }
  return { samples: blurred, width, height };
}

function threeAcross(samples: Uint8Array, width: number, height: number): Uint16Array {
  const sums = new Uint16Array(samples.length);
  for (let row = 0; row < height * width; row += width) {
    let left = samples[row] ?? 0;
    let here = left;
    for (let pixel = row; pixel < row + width - 1; pixel += 1) {
      const right = samples[pixel + 1] ?? 0;
      sums[pixel] = left + here + right;
      left = here;
      here = right;
    }
    sums[row + width - 1] = left + here + here;
  }
  return sums;
}
