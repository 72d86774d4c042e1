import { thumbnail } from '../../../core/records/capture.ts';

/** Plane of an image, row by row. */
export type Plane = { samples: Uint8Array; width: number; height: number };

/** Planes of a thumbnail. Chroma has half the width and height (yuv420p). */
export type Planes = { luma: Plane; cb: Plane; cr: Plane };

const lumaBytes = thumbnail.width * thumbnail.height;
const chromaBytes = lumaBytes / 4;

/** Splits a thumbnail into views of its planes. Throws `RangeError` if it has another size. */
export function splitPlanes(picture: Uint8Array): Planes {
  if (picture.length !== thumbnail.bytes) {
    throw new RangeError(`A thumbnail has ${thumbnail.bytes} bytes, this one has ${picture.length}`);
  }
  const chroma = { width: thumbnail.width / 2, height: thumbnail.height / 2 };
  return {
    luma: { samples: picture.subarray(0, lumaBytes), width: thumbnail.width, height: thumbnail.height },
    cb: { samples: picture.subarray(lumaBytes, lumaBytes + chromaBytes), ...chroma },
    cr: { samples: picture.subarray(lumaBytes + chromaBytes), ...chroma },
  };
}

export function joinPlanes({ luma, cb, cr }: Planes): Uint8Array {
  const picture = new Uint8Array(thumbnail.bytes);
  picture.set(luma.samples);
  picture.set(cb.samples, lumaBytes);
  picture.set(cr.samples, lumaBytes + chromaBytes);
  return picture;
}

/**
 * Returns the smaller of two 32-bit integers. It has no branch, which the processor would mispredict half of the
 * time.
 */
export function minInt(a: number, b: number): number {
  const difference = a - b;
  return b + (difference & (difference >> 31));
}

/** Returns the larger of two 32-bit integers, without a branch. */
export function maxInt(a: number, b: number): number {
  const difference = a - b;
  return a - (difference & (difference >> 31));
}

/**
 * Histogram of integer differences, for medians without sorting. Differences beyond ±127 count as ±127, far from
 * every median in use.
 */
type Histogram = Uint16Array;

const bound = 127;

export function emptyHistogram(): Histogram {
  return new Uint16Array(2 * bound + 2);
}

export function histogramBin(difference: number): number {
  return difference < -bound ? 0 : difference > bound ? 2 * bound : difference + bound;
}

/** Returns the median of `total` counted differences, or 0 if `total` is 0. Clears the histogram. */
export function drainMedian(differences: Histogram, total: number): number {
  return drainQuantile(differences, total, 0.5);
}

/** Returns the quantile `share` of `total` counted differences, or 0 if `total` is 0. Clears the histogram. */
export function drainQuantile(differences: Histogram, total: number, share: number): number {
  if (total === 0) return 0;
  let left = Math.floor(total * share);
  let bin = 0;
  for (; bin < 2 * bound; bin += 1) {
    left -= differences[bin] ?? 0;
    if (left < 0) break;
  }
  differences.fill(0);
  return bin - bound;
}
