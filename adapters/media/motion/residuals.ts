import { maxInt, minInt } from './integers.ts';

/**
 * Returns each sample minus its prediction: the median of left, above, and left + above - corner (lossless JPEG).
 * The residuals are small and similar, so they deflate to half the size. The arithmetic is modulo 256, which the
 * typed array provides.
 */
export function toResiduals(samples: Uint8Array, width: number): Uint8Array {
  const differences = new Uint8Array(samples.length);
  for (let row = 0; row < samples.length; row += width) {
    let left = row === 0 ? 0 : (samples[row - width] ?? 0);
    let corner = left;
    for (let at = row; at < row + width; at += 1) {
      const above = row === 0 ? left : (samples[at - width] ?? 0);
      const here = samples[at] ?? 0;
      differences[at] = here - guess(left, above, row === 0 ? left : corner);
      left = here;
      corner = above;
    }
  }
  return differences;
}

/** Restores the samples from their residuals. */
export function fromResiduals(differences: Uint8Array, width: number): Uint8Array {
  const samples = new Uint8Array(differences.length);
  for (let row = 0; row < samples.length; row += width) {
    let left = row === 0 ? 0 : (samples[row - width] ?? 0);
    let corner = left;
    for (let at = row; at < row + width; at += 1) {
      const above = row === 0 ? left : (samples[at - width] ?? 0);
      left = ((differences[at] ?? 0) + guess(left, above, row === 0 ? left : corner)) & 255;
      samples[at] = left;
      corner = above;
    }
  }
  return samples;
}

/** Returns the median of left, above, and left + above - corner. */
function guess(left: number, above: number, corner: number): number {
  const low = minInt(left, above);
  const high = maxInt(left, above);
  return minInt(maxInt(left + above - corner, low), high);
}
